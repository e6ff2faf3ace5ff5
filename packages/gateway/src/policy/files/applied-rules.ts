import { realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import { isWithin } from '@sallyport/sandbox';
import { KeptRuleFiles } from './kept-rule-files.ts';
import type { RulesKey } from './kept-rule-files.ts';
import { KeptRuleSet } from '../language/kept-rule-set.ts';
import { loadRules } from '../language/load-rules.ts';
import type { LoadedRules, RulesSource } from '../language/load-rules.ts';
import { addRules } from './add-rules.ts';
import type { DraftRules } from './add-rules.ts';
import { chooseProfile } from './rule-profiles.ts';
import type { RuleProfile } from './rule-profiles.ts';
import { promoteRule } from './promote-rule.ts';
import { readRuleSet } from '../language/read-rule-set.ts';
import { hashRuleFiles, readRuleFiles } from './rule-files.ts';
import type { RuleFile } from './rule-files.ts';
import { writeRuleFolder } from './write-rule-folder.ts';
import { writeDurably } from './write-durably.ts';
import type { PlacedBytes } from './write-durably.ts';

/** What rules depend on besides their files. */
export interface RulesPlace extends Omit<RulesSource, 'folder'> {
  /** The present folder of the rule files. */
  readonly findFolder: () => string;
}

/** Is told the hash of the rules that are about to be in force. Throws when they must not be. */
export type CheckHash = (hash: string) => void;

export interface RulesState {
  /** Of the rules in force. */
  readonly hash: string;
  /** The present folder of the files; the rules in force may come from elsewhere. */
  readonly folder: string;
  /** `changed`: the files differ from those in force. `broken`: and they cannot be used. */
  readonly files: 'applied' | 'changed' | 'broken';
  /** What is wrong with them. Absent unless `broken`. */
  readonly problem?: string;
}

/** Rules as they would be with some more, and the text of those. */
export interface RuleAddition {
  readonly rules: LoadedRules;
  readonly added: string;
}

/**
 * The rules in force: those that an operator applied, whatever has been done to the files since. A copy of the applied
 * files is kept in the gate's own home, so that a restart applies nothing by itself.
 *
 * Durability: the copy is on disk before `apply` returns and changes what is in force. Concurrency: one daemon owns the
 * copy. Failure: whatever is wrong with the files leaves the rules in force as they are.
 */
export class AppliedRules {
  readonly #place: RulesPlace;
  readonly #keptFile: string;
  readonly #key: RulesKey;
  readonly #kept: KeptRuleFiles;
  #current: LoadedRules;
  #sequence: number;

  /** Throws ConfigError when the copy cannot be used, or when nothing is applied yet and the files cannot. */
  constructor(place: RulesPlace, keptFile: string, key: RulesKey) {
    this.#place = place;
    this.#keptFile = keptFile;
    this.#key = key;
    this.#kept = new KeptRuleFiles(keptFile, key);
    const kept = this.#kept.read(this.#source.folder);
    this.#sequence = kept?.sequence ?? 0;
    this.#current = kept === undefined ? this.#keep(this.#readFiles()) : this.#loadKept(kept.files);
    this.wasFresh = kept === undefined;
    // A new key, or a copy of a version before.
    if (kept !== undefined && (key.isNew || kept.sequence === 0)) this.#write(kept.files);
  }

  /** Nothing had been applied when this was opened: the files were, as they were. */
  readonly wasFresh: boolean;

  /** How often rules were applied here. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Compares the copy with what is known elsewhere of the one applied last. Throws ConfigError when it is an older one that
   * somebody put back. A copy that was removed begins after the one that is known.
   */
  checkNewest(knownSequence: number): void {
    if (this.#sequence >= knownSequence) return;
    if (!this.wasFresh && !this.#key.isNew) {
      throw new ConfigError(
        `${this.#keptFile} is older than the rules that were applied last: somebody put it back.`,
        'Restore the newest one from a backup, or look at the rule files and remove it: the next start applies them.',
      );
    }
    this.#sequence = knownSequence;
    this.#write(this.#kept.read(this.#source.folder)?.files ?? []);
  }

  /** The folder of the files may change while the daemon runs: somebody copies the shipped ones to a folder of their own. */
  get #source(): RulesSource {
    return { ...this.#place, folder: resolve(this.#place.findFolder()) };
  }

  get #keptSet(): KeptRuleSet {
    return new KeptRuleSet(`${this.#keptFile}.read`, this.#source.folder, this.#key.secret);
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
    const found = { hash: this.#current.hash, folder: this.#source.folder };
    const files = this.#readFiles();
    if (hashRuleFiles(files) === found.hash) return { ...found, files: 'applied' };
    try {
      loadRules(this.#source, files).refuseShutOut();
      return { ...found, files: 'changed' };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { ...found, files: 'broken', problem: error.message };
    }
  }

  /** What the files would say if they were applied, or others in their place. Throws ConfigError. */
  preview(files = this.#readFiles()): LoadedRules {
    const rules = loadRules(this.#source, files);
    rules.refuseShutOut();
    return rules;
  }

  /** What would be in force with this shadow rule. Throws ConfigError. */
  previewPromotion(id: string): LoadedRules {
    return this.preview(this.#promote(id).files);
  }

  /**
   * Puts a shadow rule in force: in its file, and then as `apply` does. Throws ConfigError, and then
   * nothing has changed, unless the disk failed between the two: then the file is `changed`.
   */
  promote(id: string, check: CheckHash = () => undefined): LoadedRules {
    const { files, promoted } = this.#promote(id);
    check(hashRuleFiles(files));
    if (this.#isShipped) {
      const { folder } = this.#source;
      throw new ConfigError(
        `The rules in ${folder} came with the program, and the next version replaces them.`,
        'Make a copy of your own with `sallyport policy init` first.',
      );
    }
    this.preview(files);
    replaceFile(promoted);
    return this.apply(check);
  }

  #promote(id: string): { readonly files: readonly RuleFile[]; readonly promoted: PlacedBytes } {
    const [tools, ...others] = this.#readApplied();
    const bytes = promoteRule(tools, id);
    return { files: [{ ...tools, bytes }, ...others], promoted: { file: tools.file, bytes } };
  }

  /** Only on top of what is in force: edits that nobody applied must not slip in. */
  #readApplied(): readonly [tools: RuleFile, ...others: RuleFile[]] {
    const files = this.#readFiles();
    if (hashRuleFiles(files) === this.#current.hash) return files as [RuleFile, ...RuleFile[]];
    throw new ConfigError(
      `The files in ${this.#source.folder} differ from those in force.`,
      'Apply them first with `sallyport policy apply`, or undo the edits.',
    );
  }

  /** The files came with the program, and the next version replaces them. */
  get #isShipped(): boolean {
    return isWithin(resolve(this.#source.programFolder), this.#source.folder);
  }

  get #ownFolder(): string {
    return join(resolve(this.#source.home), 'governance');
  }

  /**
   * Writes a copy of the shipped rules for people to edit, as a profile has them. It changes nothing that is in force.
   * Throws ConfigError when there are rules of their own already.
   */
  init(profile: RuleProfile): { readonly folder: string; readonly files: readonly string[] } {
    if (!this.#isShipped) {
      throw new ConfigError(`There are rules of your own in ${this.#source.folder}.`, 'Edit them, or move them away.');
    }
    const files = chooseProfile(this.#readFiles(), profile);
    this.preview(files);
    return { folder: this.#ownFolder, files: writeRuleFolder(this.#source.folder, this.#ownFolder, files) };
  }

  /** Where rules that are added go: their file in the folder of people's own rules. */
  get ownFile(): string {
    return join(this.#isShipped ? this.#ownFolder : this.#source.folder, 'tools.yaml');
  }

  /** What would be in force with more rules. `draft` is given ids that are free. Throws ConfigError. */
  previewAddition(draft: DraftRules): RuleAddition {
    const [tools, ...others] = this.#readApplied();
    const { bytes, added } = addRules(tools, draft);
    return { rules: this.preview([{ ...tools, bytes }, ...others]), added };
  }

  /**
   * Adds rules to the file, or to a copy of the shipped files that it makes, and then does as `apply`. Throws as `promote`
   * does.
   */
  add(draft: DraftRules, check: CheckHash = () => undefined): LoadedRules {
    const [tools, ...others] = this.#readApplied();
    const { bytes } = addRules(tools, draft);
    const files = [{ ...tools, bytes }, ...others];
    check(hashRuleFiles(files));
    this.preview(files);
    if (this.#isShipped) writeRuleFolder(this.#source.folder, this.#ownFolder, files);
    else replaceFile({ file: tools.file, bytes });
    return this.apply(check);
  }

  /** Puts the files in force as they are now. Throws ConfigError or what `check` throws, and then nothing has changed. */
  apply(check: CheckHash = () => undefined): LoadedRules {
    const files = this.#readFiles();
    check(hashRuleFiles(files));
    this.#current = this.#keep(files);
    return this.#current;
  }

  #keep(files: readonly RuleFile[]): LoadedRules {
    const read = readRuleSet(files);
    const rules = loadRules(this.#source, files, read);
    rules.refuseShutOut();
    this.#write(files);
    this.#keptSet.keep(rules.hash, read.set);
    return rules;
  }

  #write(files: readonly RuleFile[]): void {
    this.#kept.write({ files, sequence: this.#sequence + 1 });
    this.#sequence += 1;
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

/** Where a link leads, and for whom the file was: people keep their rules in places of their own. */
function replaceFile({ file, bytes }: PlacedBytes): void {
  const real = realpathSync(file);
  writeDurably({ file: real, bytes }, statSync(real).mode & 0o777);
}
