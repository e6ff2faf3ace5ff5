import { spellCount } from '@sallyport/contract';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import { exportLog } from '@sallyport/log';
import { openKeptLog } from '@sallyport/gateway';
import { readVerifier } from './audit-verify.ts';
import type { CommandContext } from '../../command-context.ts';
import { describeError, usageFailure } from '../../client/failure.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

const linesPerProgress = 10_000;
const writtenAtOnce = 512;

/** Writes the whole log into a file that `sallyport-log verify` judges without the gate. Works beside a daemon too. */
export function exportAudit(file: string, context: CommandContext): number {
  const { config, terminal, json, commandName } = context;
  const { home } = config;
  if (!existsSync(home.databaseFile)) {
    throw usageFailure(`There is no log yet in ${home.folder}.`, 'The daemon creates it at its first start.');
  }
  const log = openKeptLog(home);
  try {
    const lines = exportLog(log, readVerifier(home, undefined));
    const written = writeLines(file, lines, (count) => {
      if (!json) terminal.progress(`Exporting: ${count} lines`);
    });
    if (!json) terminal.progress('');
    if (json) terminal.print(visibleJson({ file, records: String(log.size), lines: written }));
    else {
      const say = (text: string): string[] => wrapWords(text, terminal.columns);
      terminal.print(
        ...say(`${spellCount(log.size, 'record is', 'records are')} in ${makeVisibleLine(file)}.`),
        'To verify them without the gate:',
        `  npx @sallyport/log verify ${makeVisibleLine(file)} --key ${makeVisibleLine(home.verifierFile)}`,
        ...say(
          `It holds the redacted arguments of all calls. \`${commandName} audit verify\` judges the log in place.`,
        ),
      );
    }
    return exitCodes.success;
  } finally {
    log.close();
  }
}

/** The file appears whole or not at all, and is for its owner only. */
function writeLines(file: string, lines: Iterable<string>, onProgress: (count: number) => void): number {
  const fresh = `${file}.${process.pid}.new`;
  let count = 0;
  try {
    const descriptor = openSync(fresh, 'wx', 0o600);
    try {
      let waiting: string[] = [];
      const flush = (): void => {
        if (waiting.length > 0) writeSync(descriptor, `${waiting.join('\n')}\n`);
        waiting = [];
      };
      for (const line of lines) {
        waiting.push(line);
        count += 1;
        if (waiting.length >= writtenAtOnce) flush();
        if (count % linesPerProgress === 0) onProgress(count);
      }
      flush();
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, file);
    return count;
  } catch (error) {
    rmSync(fresh, { force: true });
    throw usageFailure(`${file} cannot be written: ${describeError(error)}`);
  }
}
