import { spellCount } from '@sallyport/contract';
import { existsSync, readFileSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import { deriveTagKey, openSigner, parseVerifier, verifyLog } from '@sallyport/log';
import type { LogReport, LogSource, TagKey } from '@sallyport/log';
import type { Home, KeptLog } from '@sallyport/gateway';
import { openKeptLog, readStateKey } from '@sallyport/gateway';
import { toNumber } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { CommandFailure, describeError, hasErrorCode, usageFailure } from '../../client/failure.ts';
import { isIntact, renderReport, reportToJson } from './render-report.ts';
import type { StateVerdict } from './render-report.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';

export interface AuditVerifyOptions {
  /** A note that was kept elsewhere. */
  readonly checkpoint?: string;
  /** The public key, as text or in a file. Absent: the one in the home. */
  readonly key?: string;
}

/** A shorter one is read before a person would begin to wonder. */
const longLog = 100_000;

/** Judges the log and the state beside it from their files alone: with or without a daemon, and without believing it. */
export function verifyAudit(options: AuditVerifyOptions, context: CommandContext): number | Promise<number> {
  const { home } = context.config;
  const isElsewhere = !existsSync(home.databaseFile) && !existsSync(home.checkpointFile) && comesByPort(context);
  if (isElsewhere) return askDaemon(options, context);
  // Read before the log is: a checkpoint newer than the log would look like records that are gone.
  const remembered = readRemembered(home, options.checkpoint);
  if (!existsSync(home.databaseFile) && remembered.length === 0) {
    throw usageFailure(`There is no log yet in ${home.folder}.`, 'The daemon creates it at its first start.');
  }
  const verifierText = readVerifier(home, options.key);
  const verifier = parseKey(verifierText);
  const tagKey = readTagKey(home, verifierText);
  const { report, state } = readLog(home, context, (source, onProgress) =>
    verifyLog(source, { verifier, ...(tagKey === undefined ? {} : { tagKey }) }, { remembered, onProgress }),
  );
  if (report.ok && report.checkpoint !== undefined) rememberCheckpoint(report.checkpoint, context);
  const facts = { report, state, verifierText, remembered: remembered.length, tagsChecked: tagKey !== undefined };
  if (context.json) context.terminal.print(visibleJson(reportToJson(facts)));
  else context.terminal.print(...renderReport(facts, context.terminal));
  return isIntact(facts) ? exitCodes.success : exitCodes.toolError;
}

function comesByPort({ openOperatorClient }: CommandContext): boolean {
  try {
    return !('path' in openOperatorClient().target);
  } catch {
    return false;
  }
}

/** For a person who runs the gate of another user, and cannot read its files. */
async function askDaemon({ checkpoint, key }: AuditVerifyOptions, context: CommandContext): Promise<number> {
  if (checkpoint !== undefined || key !== undefined) {
    throw usageFailure(
      'A checkpoint and a key are compared with the files of the log, which are not in this home.',
      'Run the command as the user who runs the daemon.',
    );
  }
  const verdict = await context.openOperatorClient().call('OperatorService/VerifyAudit', {});
  const { intact, problems } = verdict;
  const [records, signed] = [toNumber(verdict.records), toNumber(verdict.checkpointSize)];
  const { print, paint } = context.terminal;
  if (context.json) print(visibleJson({ intact, records, signed_records: signed, judged_by: 'daemon', problems }));
  else {
    print(
      intact
        ? paint('green', 'The log is intact, and the state matches it.')
        : paint('red', 'The log or the state beside it was changed.'),
      ...problems.map((problem) => `  ${makeVisibleLine(problem)}`),
      `${spellCount(records, 'record')}, ${signed} of them signed. A process of the daemon has read them.`,
    );
  }
  return intact ? exitCodes.success : exitCodes.toolError;
}

/** The next verification must find at least this history. That it could not be kept does not make this one false. */
function rememberCheckpoint(note: string, { config, terminal }: CommandContext): void {
  try {
    writeFileAtomically(config.home.verifiedCheckpointFile, note);
  } catch (error) {
    terminal.note(`The checkpoint could not be remembered for next time: ${describeError(error)}`);
  }
}

function readLog(
  home: Home,
  { terminal, json }: CommandContext,
  verify: (source: LogSource, onProgress: (read: number) => void) => LogReport,
): { readonly report: LogReport; readonly state: StateVerdict } {
  // Checkpoints without a database are a log that is gone, which is for the verifier to say.
  if (!existsSync(home.databaseFile)) {
    const report = verify({ records: () => [], checkpoints: () => [] }, () => undefined);
    return { report, state: { kind: 'not-checked', why: 'there is no database' } };
  }
  try {
    const log = openKeptLog(home);
    const progress = json || log.size < longLog ? () => undefined : terminal.progress;
    try {
      const report = verify(log, (read) => progress(`Verifying: ${read} of ${log.size} records`));
      return { report, state: judgeState(home, log) };
    } finally {
      log.close();
      progress('');
    }
  } catch (error) {
    throw new CommandFailure(
      'LOG_UNREADABLE',
      exitCodes.toolError,
      `The log cannot be read: ${describeError(error)}.`,
      {
        cause: error,
        remedy: `Check who may read ${home.databaseFile}; if it is damaged, restore it from a backup.`,
      },
    );
  }
}

/** A user who may not read the key of the state verifies the log alone. */
function judgeState(home: Home, log: KeptLog): StateVerdict {
  let key: string | undefined;
  try {
    key = readStateKey(home);
  } catch (error) {
    return { kind: 'not-checked', why: describeError(error) };
  }
  if (key === undefined) {
    return {
      kind: 'not-checked',
      why: `${home.stateKeyFile} is missing or new; the next start takes the state as found`,
    };
  }
  const problems = log.judgeState(key);
  return problems.length === 0 ? { kind: 'matches' } : { kind: 'changed', problems };
}

function readRemembered(home: Home, given: string | undefined): string[] {
  const kept = [home.checkpointFile, home.verifiedCheckpointFile]
    .map(readIfPresent)
    .filter((note) => note !== undefined);
  if (given === undefined) return kept;
  const note = readIfPresent(given);
  if (note === undefined) throw usageFailure(`There is no checkpoint file ${given}.`);
  return [...kept, note];
}

export function readVerifier(home: Home, given: string | undefined): string {
  const text =
    given === undefined ? readIfPresent(home.verifierFile) : existsSync(given) ? readIfPresent(given) : given;
  if (text !== undefined) return text.trim();
  throw new CommandFailure(
    'KEY_MISSING',
    exitCodes.toolError,
    `The public key of the log is gone: ${home.verifierFile}`,
    {
      remedy: 'Pass it with --key. Without it nothing about the log can be shown.',
    },
  );
}

function parseKey(text: string): ReturnType<typeof parseVerifier> {
  try {
    return parseVerifier(text);
  } catch (error) {
    throw usageFailure(`The key cannot be used: ${describeError(error)}.`);
  }
}

/** Whoever may not read the signing key verifies what is signed, and nothing after it. */
function readTagKey(home: Home, verifierText: string): TagKey | undefined {
  try {
    const signer = openSigner(readFileSync(home.signingKeyFile, 'utf8'));
    return signer.verifier === verifierText ? deriveTagKey(signer) : undefined;
  } catch {
    return undefined;
  }
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw usageFailure(describeError(error));
  }
}
