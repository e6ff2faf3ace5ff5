import { mkdir } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { ProgramRunner } from '@sallyport/sandbox';
import { askForDescription } from './ask-for-description.ts';
import type { NoAnswer } from './ask-for-description.ts';
import type { Answer, DescriptionCache } from './description-cache.ts';
import { findToolFiles, UnfitFile } from './find-tool-files.ts';
import type { SkippedFile, ToolFile } from './find-tool-files.ts';
import { DescriptionError } from '../registry/description-fields.ts';
import { describeNothing, parseToolDescription } from '../registry/tool-description.ts';
import type { ToolDescription } from '../registry/tool-description.ts';
import { ForeignSchemaError } from '../registry/schemas/parse-foreign-schema.ts';
import { placeProgram } from './place-program.ts';
import { unknownVersion } from '../registry/tool-name.ts';
import { ChangingFile } from './tool-store.ts';
import type { StoredProgram, ToolStore } from './tool-store.ts';

/** A program of the tools folder, and what it says about itself. */
export interface Executable {
  /** In the tools folder. */
  readonly file: string;
  readonly stored: StoredProgram;
  readonly description: ToolDescription & { readonly name: string; readonly version: string };
  /** Absent: all is well. */
  readonly trouble?: StartTrouble;
}

export interface StartTrouble {
  readonly status: 'schema-unknown' | 'missing-binary';
  readonly reason: string;
  /** What it wrote to standard error, for operators alone: nobody has accepted its words. Empty: nothing. */
  readonly stderr: string;
  /** It may be gone at the next look, so nothing should be made of it. */
  readonly isPassing: boolean;
}

export interface Scan {
  readonly executables: readonly Executable[];
  readonly skipped: readonly SkippedFile[];
  /** Something is being written. Look again soon. */
  readonly isUnsettled: boolean;
}

/** That a program was asked for its schema: it ran, so it belongs in the log. */
export interface SchemaRun {
  readonly file: string;
  readonly sha256: string;
  readonly answer: Answer['kind'] | 'lost';
  /** Empty: it described itself. */
  readonly reason: string;
}

export interface ExecutablesOptions {
  readonly folder: string;
  readonly store: ToolStore;
  readonly cache: DescriptionCache;
  readonly programs: ProgramRunner;
  /** The package for programs in Node. Absent: none. */
  readonly sdk?: string;
  readonly recordSchemaRun: (run: SchemaRun) => void;
  /** How long a look waits for programs to describe themselves; one that takes longer is looked at again. */
  readonly patienceMs?: number;
  /** How long a file must stay unchanged before it is read as a tool. */
  readonly quietMs?: number;
  readonly nowMs?: () => number;
}

const askedAtOnce = 6;
const defaultQuietMs = 250;
const defaultPatienceMs = 1000;

const unanswered = 'it has not answered --schema yet';
const notYet: NoAnswer = { kind: 'asking' };

/** The tools folder, looked at again and again: what has not changed costs one look at its rights. */
export class Executables {
  readonly #options: ExecutablesOptions;
  readonly #known = new Map<string, { readonly identity: string; readonly executable: Executable }>();
  /** By the hash of the program, until a look has taken the answer. */
  readonly #asking = new Map<string, Promise<Answer | NoAnswer>>();
  #inFlight = 0;

  constructor(options: ExecutablesOptions) {
    this.#options = options;
  }

  /** One at a time. Makes the folder if it is gone. */
  async scan(signal: AbortSignal): Promise<Scan> {
    const { folder, quietMs = defaultQuietMs, patienceMs = defaultPatienceMs, nowMs = Date.now } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await findToolFiles(folder);
    const skipped: SkippedFile[] = [...found.skipped];
    let isUnsettled = false;
    const late = setTimeout(patienceMs, notYet, { ref: false });
    const looks = await mapInParallel(found.files, askedAtOnce, async (file) => {
      const known = this.#known.get(file.file);
      if (known?.identity === file.identity) return known.executable;
      const age = nowMs() - file.changedAtMs;
      try {
        if (age >= 0 && age < quietMs) throw new ChangingFile();
        const executable = await this.#takeIn(file, late, signal);
        isUnsettled ||= executable.trouble?.reason === unanswered;
        return executable;
      } catch (error) {
        if (!(error instanceof UnfitFile)) throw error;
        if (!(error instanceof ChangingFile)) skipped.push({ file: file.file, reason: error.message });
        else isUnsettled = true;
        // What was there before stays until the new one is whole.
        return error instanceof ChangingFile ? known?.executable : undefined;
      }
    });
    const present = new Set(found.files.map(({ file }) => file));
    for (const file of this.#known.keys()) if (!present.has(file)) this.#known.delete(file);
    return { executables: looks.filter((each) => each !== undefined), skipped, isUnsettled };
  }

  async #takeIn(file: ToolFile, late: Promise<NoAnswer>, signal: AbortSignal): Promise<Executable> {
    const { store, cache } = this.#options;
    const stored = await store.take(file);
    const answer = (await cache.read(stored.sha256)) ?? (await this.#answerOf(file, stored, late, signal));
    const executable = describe(file, stored, answer);
    if (executable.trouble?.isPassing !== true) this.#known.set(file.file, { identity: file.identity, executable });
    return executable;
  }

  /** The others do not wait for a program that hangs: it is asked on, and a later look finds its answer. */
  async #answerOf(
    file: ToolFile,
    stored: StoredProgram,
    late: Promise<NoAnswer>,
    signal: AbortSignal,
  ): Promise<Answer | NoAnswer> {
    const { sha256 } = stored;
    let asking = this.#asking.get(sha256);
    if (asking === undefined) {
      if (this.#inFlight >= askedAtOnce) return late;
      this.#inFlight += 1;
      asking = this.#ask(file, stored, signal).finally(() => (this.#inFlight -= 1));
      asking.catch(() => undefined);
      this.#asking.set(sha256, asking);
    }
    try {
      const answer = await Promise.race([asking, late]);
      if (answer !== notYet) this.#asking.delete(sha256);
      return answer;
    } catch (error) {
      this.#asking.delete(sha256);
      throw error;
    }
  }

  async #ask(file: ToolFile, stored: StoredProgram, signal: AbortSignal): Promise<Answer | NoAnswer> {
    const { store, cache, programs, sdk, recordSchemaRun } = this.#options;
    const placed = placeProgram(store, stored, sdk === undefined ? {} : { sdk });
    const answer = await askForDescription(placed, programs, { signal });
    if (answer.kind === 'not-started') return answer;
    const reason = answer.kind === 'described' ? '' : answer.reason;
    recordSchemaRun({ file: file.file, sha256: stored.sha256, answer: answer.kind, reason });
    if (answer.kind !== 'lost') await cache.write(stored.sha256, answer);
    return answer;
  }
}

function describe({ file, named }: ToolFile, stored: StoredProgram, answer: Answer | NoAnswer): Executable {
  const inTrouble = (status: StartTrouble['status'], reason: string, more: Partial<StartTrouble> = {}): Executable => {
    const { name = named.name, version = unknownVersion, ...description } = describeNothing(named);
    const trouble = { status, reason, stderr: '', isPassing: false, ...more };
    return { file, stored, description: { ...description, name, version }, trouble };
  };
  if (answer.kind === 'asking') return inTrouble('schema-unknown', unanswered, { isPassing: true });
  if (answer.kind === 'not-started' || answer.kind === 'lost') {
    return inTrouble('schema-unknown', `it could not be asked for its schema: ${answer.reason}`, { isPassing: true });
  }
  if (answer.kind !== 'described') {
    const { kind, reason, stderr } = answer;
    return inTrouble(kind === 'broken' ? 'missing-binary' : 'schema-unknown', reason, { stderr });
  }
  try {
    const {
      name = named.name,
      version = named.version ?? unknownVersion,
      ...description
    } = parseToolDescription(answer.printed);
    return { file, stored, description: { ...description, name, version } };
  } catch (error) {
    if (!(error instanceof DescriptionError || error instanceof ForeignSchemaError)) throw error;
    return inTrouble('schema-unknown', `what --schema printed is not acceptable: ${error.message}`);
  }
}

/** Like `Promise.all` over a map, with at most `limit` of them at work. Results keep the order of the items. */
async function mapInParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const takeTurns = async (): Promise<void> => {
    // All share one iterator: who is free takes the next.
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, takeTurns));
  return results;
}
