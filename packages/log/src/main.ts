#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseVerifier } from './checkpoint.ts';
import { openExport } from './exported-log.ts';
import { verifyLog } from './verify.ts';
import type { LogReport } from './verify.ts';

const usage = `Usage: sallyport-log verify FILE [--key KEY] [--checkpoint FILE] [--json]

Judges a log that \`sallyport audit export\` wrote, without the gate.

  --key KEY          the public key of the log, as text or in a file. Without it the key in the
                     export is believed, and that proves only that the log fits its own key
  --checkpoint FILE  a checkpoint that was kept elsewhere
  --json             print one JSON object

Exit codes: 0 the log is intact, 1 it is not, 2 the command or the file is wrong.
`;

function main(args: readonly string[]): number {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      key: { type: 'string' },
      checkpoint: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [command, file, ...more] = positionals;
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  if (command !== 'verify' || file === undefined || more.length > 0) throw new Error(usage);
  const log = openExport(file);
  const key = values.key === undefined ? log.verifier : readKey(values.key);
  const remembered = values.checkpoint === undefined ? [] : [readFileSync(values.checkpoint, 'utf8')];
  const report = verifyLog(log, { verifier: parseVerifier(key) }, { remembered });
  const isKnownKey = values.key !== undefined;
  process.stdout.write(
    values.json === true ? `${describeAsJson(report, key)}\n` : describe(report, key, { isKnownKey }),
  );
  return isIntact(report) ? 0 : 1;
}

/** Records after the last checkpoint cannot be judged without the gate's own key; they are counted, not blamed. */
function isIntact({ findings, findingCount }: LogReport): boolean {
  return findings.length === findingCount && findings.every(({ kind }) => kind === 'record-appended');
}

function describe(report: LogReport, key: string, { isKnownKey }: { readonly isKnownKey: boolean }): string {
  const { size, checkpointSize, erased, findings, findingCount } = report;
  const blamed = findings.filter(({ kind }) => kind !== 'record-appended');
  const lines = [
    isIntact(report)
      ? `Intact: ${checkpointSize} of ${size} records are proved by a signed checkpoint.`
      : 'Not intact.',
    ...(size > checkpointSize ? [`${size - checkpointSize} records are newer than the last checkpoint.`] : []),
    ...(erased > 0 ? [`${erased} records were erased; their leaves still count.`] : []),
    `Key: ${key.replace(/[^\x20-\x7e]/g, '?')}${isKnownKey ? '' : ' (from the export itself: pass --key to compare it with one you know)'}`,
    ...blamed.map(({ message }) => `- ${message}`),
    ...(findingCount > findings.length ? [`- and ${findingCount - findings.length} more`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** With the names and the form of the gate's own verdict: 64-bit numbers are text. */
function describeAsJson(report: LogReport, key: string): string {
  const { size, checkpointSize, erased, findings, findingCount } = report;
  return JSON.stringify({
    intact: isIntact(report),
    records: String(size),
    checkpointSize: String(checkpointSize),
    erasedRecords: String(erased),
    key,
    findings: findings.map(({ fromIndex, toIndex, ...finding }) => {
      return { ...finding, fromIndex: String(fromIndex), toIndex: String(toIndex) };
    }),
    findingCount,
  });
}

function readKey(given: string): string {
  return (existsSync(given) ? readFileSync(given, 'utf8') : given).trim();
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
