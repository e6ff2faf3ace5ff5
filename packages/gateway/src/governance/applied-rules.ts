import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '../model/fault.ts';
import { isWithin } from './canonical-path.ts';
import { KeptRuleSet } from './kept-rule-set.ts';
import { loadRules } from './load-rules.ts';
import type { LoadedRules, RulesSource } from './load-rules.ts';
import { promoteRule } from './promote-rule.ts';
import { readRuleSet } from './read-rule-set.ts';
import { hashRuleFiles, readRuleFiles } from './rule-files.ts';
import type { RuleFile } from './rule-files.ts';
import { ruleFileNames } from './rule.ts';

/** What rules depend on besides their files. */
export interface RulesPlace extends Omit<RulesSource, 'folder'> {
  /** Where the rule files lie now. */
  readonly findFolder: () => string;
}

export interface RulesState {
  /** Of the rules in force. */
  readonly hash: string;
  /** `changed`: the files are others than those in force. `broken`: and they cannot be used. */
  readonly files: 'applied' | 'changed' | 'broken';
  /** What is wrong with them. Absent unless `broken`. */
  readonly problem?: string;
}

/**
 * The rules in force: those that an operator applied, whatever has been done to the files since. A copy of the applied
 * files lies in the gate's own home, so that a restart applies nothing by itself.
 *
 * Durability: the copy is on disk before `apply` returns and changes what is in force. Concurrency: one daemon owns the
 * copy. Failure: whatever is wrong with the files leaves the rules in force as they are.
 */
export class AppliedRules {
  readonly #place: RulesPlace;
  readonly #keptFile: string;
  #current: LoadedRules;

  /** Throws ConfigError when the copy cannot be used, or when nothing is applied yet and the files cannot. */
  constructor(place: RulesPlace, keptFile: string) {
    this.#place = place;
    this.#keptFile = keptFile;
    const kept = readKept(keptFile, this.#source.folder);
    this.#current = kept === undefined ? this.#keep(this.#readFiles()) : this.#loadKept(kept);
  }

  /** Where the files lie may change while the daemon runs: somebody copies the shipped ones to a folder of their own. */
  get #source(): RulesSource {
    return { ...this.#place, folder: resolve(this.#place.findFolder()) };
  }

  get #keptSet(): KeptRuleSet {
    return new KeptRuleSet(`${this.#keptFile}.read`, this.#source.folder);
  }

  #readFiles(): readonly RuleFile[] {
    return readRuleFiles(this.#source.folder);
  }

  /** To be read for every call anew. */
  get current(): LoadedRules {
    return this.#current;
  }

  /** Looks at the files as they are now. */
  inspect(): RulesState {
    const { hash } = this.#current;
    const files = this.#readFiles();
    if (hashRuleFiles(files) === hash) return { hash, files: 'applied' };
    try {
      loadRules(this.#source, files).refuseShutOut();
      return { hash, files: 'changed' };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { hash, files: 'broken', problem: error.message };
    }
  }

  /** What the files would say if they were applied, or others in their place. Throws ConfigError. */
  preview(files = this.#readFiles()): LoadedRules {
    const rules = loadRules(this.#source, files);
    rules.refuseShutOut();
    return rules;
  }

  /** What would be in force if a rule were that is only tried out. Throws ConfigError. */
  previewPromotion(id: string): LoadedRules {
    return this.preview(this.#promote(id).files);
  }

  /**
   * Puts a rule in force that is only tried out: in its file, and then as `apply` does. Throws ConfigError, and then
   * nothing has changed, unless the disk failed between the two: then the file is `changed`.
   */
  promote(id: string): LoadedRules {
    const { files, promoted } = this.#promote(id);
    const { programFolder, folder, home } = this.#source;
    if (isWithin(resolve(programFolder), folder)) {
      throw new ConfigError(
        `The rules in ${folder} came with the program, and the next version replaces them.`,
        `Copy the folder to ${join(resolve(home), 'governance')} and run \`sallyport policy apply\`.`,
      );
    }
    this.preview(files);
    replaceFile(promoted);
    return this.apply();
  }

  /** Only on top of what is in force: edits that nobody applied must not slip in. */
  #promote(id: string): { readonly files: readonly RuleFile[]; readonly promoted: PlacedBytes } {
    const files = this.#readFiles();
    if (hashRuleFiles(files) !== this.#current.hash) {
      throw new ConfigError(
        `The files in ${this.#source.folder} are others than those in force.`,
        'Apply them first with `sallyport policy apply`, or take the edits back.',
      );
    }
    const [tools, ...others] = files as [RuleFile, ...RuleFile[]];
    const bytes = promoteRule(tools, id);
    return { files: [{ ...tools, bytes }, ...others], promoted: { file: tools.file, bytes } };
  }

  /** Puts the files in force as they are now. Throws ConfigError, and then nothing has changed. */
  apply(): LoadedRules {
    this.#current = this.#keep(this.#readFiles());
    return this.#current;
  }

  #keep(files: readonly RuleFile[]): LoadedRules {
    const read = readRuleSet(files);
    const rules = loadRules(this.#source, files, read);
    rules.refuseShutOut();
    writeKept(this.#keptFile, files);
    this.#keptSet.keep(rules.hash, read.set);
    return rules;
  }

  #loadKept(files: readonly RuleFile[]): LoadedRules {
    const set = this.#keptSet.recall(hashRuleFiles(files));
    const read = set === undefined ? readRuleSet(files) : { set, problems: {} };
    try {
      const rules = loadRules(this.#source, files, read);
      if (set === undefined) this.#keptSet.keep(rules.hash, read.set);
      return rules;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(
        `The rules that were applied last cannot be used any more.\n${error.message}`,
        `Correct the files in ${this.#source.folder} and remove ${this.#keptFile}: the next start applies them.`,
      );
    }
  }
}

interface PlacedBytes {
  readonly file: string;
  readonly bytes: Uint8Array;
}

type Kept = { readonly [Name in (typeof ruleFileNames)[number]]?: string };

/** Undefined: nothing was applied yet. */
function readKept(keptFile: string, folder: string): readonly RuleFile[] | undefined {
  let text: string;
  try {
    text = readFileSync(keptFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const kept = parseKept(text, keptFile);
  return ruleFileNames.map((name) => {
    const file = join(resolve(folder), name);
    const bytes = kept[name];
    return { name, file, ...(bytes === undefined ? {} : { bytes: Buffer.from(bytes, 'base64') }) };
  });
}

function parseKept(text: string, keptFile: string): Kept {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    kept = undefined;
  }
  if (isKept(kept)) return kept;
  throw new ConfigError(
    `${keptFile} is damaged, so it is not known which rules were applied.`,
    'Look at the rule files, then remove it: the next start applies them.',
  );
}

function isKept(value: unknown): value is Kept {
  return typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string');
}

function writeKept(keptFile: string, files: readonly RuleFile[]): void {
  const entries = files.flatMap(({ name, bytes }) =>
    bytes === undefined ? [] : [[name, Buffer.from(bytes).toString('base64')] as const],
  );
  mkdirSync(dirname(keptFile), { recursive: true, mode: 0o700 });
  writeDurably({ file: keptFile, bytes: Buffer.from(JSON.stringify(Object.fromEntries(entries))) }, 0o600);
}

/** Where a link leads, and for whom the file was: people keep their rules in places of their own. */
function replaceFile({ file, bytes }: PlacedBytes): void {
  const real = realpathSync(file);
  writeDurably({ file: real, bytes }, statSync(real).mode & 0o777);
}

/** The old file or the new one is there at any moment, never a part of one. */
function writeDurably({ file, bytes }: PlacedBytes, mode: number): void {
  const draft = `${file}.new`;
  const descriptor = openSync(draft, 'w', mode);
  try {
    writeFileSync(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
