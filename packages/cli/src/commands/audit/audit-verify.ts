import { attempt } from '@sallyport/contract';
import type { InJson, VerifyAuditResponse } from '@sallyport/contract';
import { existsSync, readFileSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import { deriveTagKey, openSigner, parseVerifier, spellRanges, verifyLog } from '@sallyport/log';
import type { LogReport, LogSource, TagKey } from '@sallyport/log';
import type { Home, KeptLog } from '@sallyport/gateway';
import { openKeptLog, readStateKey } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import { CommandFailure, describeError, hasErrorCode, usageFailure } from '../../client/failure.ts';
import { renderReport } from './render-report.ts';
import { visibleJson } from '../../terminal/visible-text.ts';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';

export interface AuditVerifyOptions {
  /** A note that was kept elsewhere. */
  readonly checkpoint?: string;
  /** The public key, as text or in a file. Absent: the one in the home. */
  readonly key?: string;
}

type Verdict = InJson<VerifyAuditResponse>;

/** Whether the state beside the log (sessions, leases, approvals, pins, mode, organisation) is what the gate wrote. */
interface StateVerdict extends Pick<Verdict, 'stateReason'> {
  readonly state: 'matches' | 'changed' | 'not-checked';
  readonly problems: readonly string[];
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
  const facts = { key: verifierText, rememberedCheckpoints: remembered.length, tagsChecked: tagKey !== undefined };
  return tell({ ...describeReport(report, state), ...facts }, context);
}

function tell(verdict: Verdict, { terminal, json }: CommandContext, ...more: readonly string[]): number {
  terminal.print(...(json ? [visibleJson(verdict)] : [...renderReport(verdict, terminal), ...more]));
  return verdict.intact ? exitCodes.success : exitCodes.toolError;
}

/** State that could not be checked does not make the log less intact. */
function describeReport(report: LogReport, { state, stateReason, problems }: StateVerdict) {
  const found = report.findings.map(({ kind, fromIndex, toIndex, message }) => {
    return { kind, fromIndex: String(fromIndex), toIndex: String(toIndex), message };
  });
  const changed = problems.map((message) => ({ kind: 'state', fromIndex: '0', toIndex: '0', message }));
  const findings = [...found, ...changed];
  return {
    intact: report.ok && state !== 'changed',
    records: String(report.size),
    checkpointSize: String(report.checkpointSize),
    problems: findings.map(({ message }) => message),
    logIntact: report.ok,
    ...{ state, stateReason },
    taggedRecords: String(report.coveredByTags),
    erasedRecords: String(report.erased),
    erasedRanges: spellRanges(report.erasedRanges),
    archivedRecords: String(report.archived),
    root: report.root.toString('base64'),
    checkpoint: report.checkpoint ?? '',
    findings,
    findingCount: report.findingCount + changed.length,
  } satisfies Partial<Verdict>;
}

function comesByPort({ openOperatorClient }: CommandContext): boolean {
  return attempt(() => !('path' in openOperatorClient().target)) ?? false;
}

/** For a person who runs the gate of another user, and cannot read its files. */
async function askDaemon({ checkpoint, key }: AuditVerifyOptions, context: CommandContext): Promise<number> {
  if (checkpoint !== undefined || key !== undefined) {
    throw usageFailure(
      'A checkpoint and a key are compared with the files of the log, which are not in this home.',
      'Run the command as the user who runs the daemon.',
    );
  }
  return tell(
    await context.openOperatorClient().call('OperatorService/VerifyAudit', {}),
    context,
    'A process of the daemon has read the log.',
  );
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
    return { report, state: notChecked('there is no database') };
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
    return notChecked(describeError(error));
  }
  if (key === undefined) {
    return notChecked(`${home.stateKeyFile} is missing or new; the next start takes the state as found`);
  }
  const problems = log.judgeState(key);
  return { state: problems.length === 0 ? 'matches' : 'changed', stateReason: '', problems };
}

function notChecked(why: string): StateVerdict {
  return { state: 'not-checked', stateReason: why, problems: [] };
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

/** Without the signing key, verifies what is signed, and nothing after it. */
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
