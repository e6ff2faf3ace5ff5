import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '@sallyport/contract/codes';
import { askWitness, proveConsistency, WitnessRefusal } from '@sallyport/log';
import type { WitnessPlace } from '@sallyport/log';
import { explainWebhookUrl, openKeptLog } from '@sallyport/gateway';
import type { Home } from '@sallyport/gateway';
import { CommandFailure, describeError, usageFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';
import { readVerifier } from './audit-verify.ts';
import { publishToFile, publishToGit, publishToWebhook, RewrittenLog } from './checkpoint-places.ts';

export interface AuditPublishOptions {
  readonly file?: string;
  readonly git?: string;
  readonly webhook?: string;
  readonly witness?: readonly string[];
  /** Seconds. Absent: once. */
  readonly every?: number;
}

interface Published {
  readonly size: number;
  readonly places: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Takes the newest checkpoint out of this machine's reach: a log that is rewritten later does not fit it any more. Works
 * from the files of the gate, beside a daemon or without one.
 */
export async function publishAudit(options: AuditPublishOptions, context: CommandContext): Promise<number> {
  const { home } = context.config;
  const witnesses = (options.witness ?? []).map(parseWitness);
  const webhookProblem = options.webhook === undefined ? undefined : explainWebhookUrl(options.webhook);
  if (webhookProblem !== undefined) throw usageFailure(`The address of the webhook ${webhookProblem}`);
  const places = [options.file, options.git, options.webhook, ...witnesses];
  if (places.every((place) => place === undefined)) {
    throw usageFailure('Say where to publish: --file, --git, --webhook or --witness.');
  }
  if (!existsSync(home.databaseFile)) throw usageFailure(`There is no log yet in ${home.folder}.`);
  let last = '';
  for (;;) {
    const published = await publishOnce(options, witnesses, home, last);
    if (published !== undefined) {
      tell(published, context);
      last = published.problems.length === 0 ? String(published.size) : '';
    }
    if (options.every === undefined)
      return (published?.problems.length ?? 0) === 0 ? exitCodes.success : exitCodes.toolError;
    await sleep(options.every * 1000);
  }
}

/** Undefined: nothing was signed since `last`. */
async function publishOnce(
  { file, git, webhook }: AuditPublishOptions,
  witnesses: readonly WitnessPlace[],
  home: Home,
  last: string,
): Promise<Published | undefined> {
  const log = openKeptLog(home);
  try {
    const checkpoint = log.lastCheckpoint();
    if (checkpoint === undefined || String(checkpoint.size) === last) return undefined;
    const { size } = checkpoint;
    const problems: string[] = [];
    const places: string[] = [];
    const reach = async (place: string, publish: () => void | Promise<void>): Promise<void> => {
      try {
        await publish();
        places.push(place);
      } catch (error) {
        problems.push(`${place}: ${describeProblem(error)}`);
      }
    };
    const verifier = readVerifier(home, undefined);
    let note = checkpoint.note;
    const proveFrom = (oldSize: number): readonly Uint8Array[] => proveConsistency(oldSize, size, log.readNode);
    for (const witness of witnesses) {
      // Each signs the checkpoint alone; their lines are put together.
      await reach(witness.url, async () => {
        note += await askWitness(witness, { note: checkpoint.note, proveFrom });
      });
    }
    if (note !== checkpoint.note) writeFileAtomically(home.cosignedCheckpointFile, note);
    const parts = { note, size, verifier, readNode: log.readNode };
    if (file !== undefined) await reach(file, () => publishToFile(file, parts));
    if (git !== undefined) await reach(git, () => publishToGit(git, parts));
    if (webhook !== undefined) await reach(webhook, () => publishToWebhook(webhook, note));
    return { size, places, problems };
  } finally {
    log.close();
  }
}

function tell({ size, places, problems }: Published, { terminal, json }: CommandContext): void {
  if (json) {
    terminal.print(visibleJson({ size: String(size), places, problems }));
    return;
  }
  if (places.length > 0) {
    terminal.print(
      `A checkpoint over ${size} records is at ${places.map((place) => makeVisibleLine(place)).join(', ')}.`,
    );
  }
  for (const problem of problems) terminal.note(makeVisibleLine(problem));
}

function describeProblem(error: unknown): string {
  const isSplit = error instanceof RewrittenLog || (error instanceof WitnessRefusal && error.isSplit);
  const hint = isSplit
    ? ' The log was rewritten or put back: run `audit verify --checkpoint` with what was published.'
    : '';
  return `${describeError(error)}${hint}`;
}

/** KEY@URL: the key of the witness, and where it takes checkpoints. */
function parseWitness(given: string): WitnessPlace {
  const [, key = '', url = ''] = /^(\S+)@(https?:\/\/\S+)$/.exec(given) ?? [];
  const problem = key === '' ? 'is not of the form KEY@URL' : explainWebhookUrl(url);
  if (problem === undefined) return { key, url };
  throw new CommandFailure('USAGE', exitCodes.usage, `A witness ${problem}: ${given}`);
}
