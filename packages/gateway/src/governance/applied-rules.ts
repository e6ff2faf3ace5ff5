import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '../model/fault.ts';
import { loadRules } from './load-rules.ts';
import type { LoadedRules, RulesSource } from './load-rules.ts';
import { hashRuleFiles, readRuleFiles } from './rule-files.ts';
import type { RuleFile } from './rule-files.ts';
import { ruleFileNames } from './rule.ts';

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
  readonly #source: RulesSource;
  readonly #keptFile: string;
  #current: LoadedRules;

  /** Throws ConfigError when the copy cannot be used, or when nothing is applied yet and the files cannot. */
  constructor(source: RulesSource, keptFile: string) {
    this.#source = source;
    this.#keptFile = keptFile;
    const kept = readKept(keptFile, source.folder);
    this.#current = kept === undefined ? this.#keep(readRuleFiles(resolve(source.folder))) : this.#loadKept(kept);
  }

  /** To be read for every call anew. */
  get current(): LoadedRules {
    return this.#current;
  }

  /** Looks at the files as they are now. */
  inspect(): RulesState {
    const { hash } = this.#current;
    const files = readRuleFiles(resolve(this.#source.folder));
    if (hashRuleFiles(files) === hash) return { hash, files: 'applied' };
    try {
      loadRules(this.#source, files);
      return { hash, files: 'changed' };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { hash, files: 'broken', problem: error.message };
    }
  }

  /** What the files would say if they were applied. Throws ConfigError. */
  preview(): LoadedRules {
    return loadRules(this.#source);
  }

  /** Puts the files in force as they are now. Throws ConfigError, and then nothing has changed. */
  apply(): LoadedRules {
    this.#current = this.#keep(readRuleFiles(resolve(this.#source.folder)));
    return this.#current;
  }

  #keep(files: readonly RuleFile[]): LoadedRules {
    const rules = loadRules(this.#source, files);
    writeKept(this.#keptFile, files);
    return rules;
  }

  #loadKept(files: readonly RuleFile[]): LoadedRules {
    try {
      return loadRules(this.#source, files);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(
        `The rules that were applied last cannot be used any more.\n${error.message}`,
        `Correct the files in ${this.#source.folder} and remove ${this.#keptFile}: the next start applies them.`,
      );
    }
  }
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

/** The old copy or the new one is there at any moment, never a part of one. */
function writeKept(keptFile: string, files: readonly RuleFile[]): void {
  const entries = files.flatMap(({ name, bytes }) =>
    bytes === undefined ? [] : [[name, Buffer.from(bytes).toString('base64')] as const],
  );
  mkdirSync(dirname(keptFile), { recursive: true, mode: 0o700 });
  const draft = `${keptFile}.new`;
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeSync(descriptor, JSON.stringify(Object.fromEntries(entries)));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, keptFile);
  const folder = openSync(dirname(keptFile), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
