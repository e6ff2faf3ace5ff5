import { createHmac, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { RuleSet } from './read-rule-set.ts';

const digestBytes = 32;

/**
 * What a set of rule files says, kept from the last time that it was read: reading YAML is most of what loading rules
 * takes. The bytes of the files stay what counts. The file is in the gate's own home and begins with a keyed digest over
 * its content, the bytes of the rule files, their paths and the program that read them; when anything of it is different,
 * the rule files are read again. Without the key nobody can make one that says more than the files do.
 */
export class KeptRuleSet {
  readonly #file: string;
  readonly #folder: string;
  readonly #key: string;

  /** `folder`: of the rule files, as rules name their place. `key`: a secret that is kept elsewhere. */
  constructor(file: string, folder: string, key: string) {
    this.#file = file;
    this.#folder = folder;
    this.#key = key;
  }

  /** Undefined: nothing is kept that fits. */
  recall(filesHash: string): RuleSet | undefined {
    try {
      const bytes = readFileSync(this.#file);
      const content = bytes.subarray(digestBytes);
      if (!timingSafeEqual(bytes.subarray(0, digestBytes), this.#digest(filesHash, content))) return undefined;
      return deserialize(content) as RuleSet;
    } catch {
      return undefined;
    }
  }

  /** Not durable, and no loss if it fails: the next start takes longer. */
  keep(filesHash: string, set: RuleSet): void {
    const content = serialize(set);
    const draft = `${this.#file}.new`;
    try {
      writeFileSync(draft, Buffer.concat([this.#digest(filesHash, content), content]), { mode: 0o600 });
      renameSync(draft, this.#file);
    } catch {
      // As the contract says.
    }
  }

  #digest(filesHash: string, content: Uint8Array): Buffer {
    const about = JSON.stringify([filesHash, this.#folder, process.versions.v8, describeReader()]);
    return createHmac('sha256', this.#key).update(`kept rule set v1\n${about}\n`).update(content).digest();
  }
}

/** Another version of the program may read the same bytes in another way. */
function describeReader(): readonly string[] {
  const folder = import.meta.dirname;
  return readdirSync(folder).map((name) => {
    const { size, mtimeMs } = statSync(join(folder, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}
