import { createHmac, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import type { RuleFile } from './rule-files.ts';
import { ruleFileNames } from '../language/rule.ts';
import { writeDurably } from './write-durably.ts';

/** What the copy of the applied rules is authenticated with. It is kept apart from the copy. */
export interface RulesKey {
  readonly secret: string;
  /** The key is new: a copy that it does not fit is taken over as it is found. */
  readonly isNew: boolean;
}

export interface KeptFiles {
  readonly files: readonly RuleFile[];
  /** Grows by one with every change, so that an older copy can be told from the newest. 0: a version before said none. */
  readonly sequence: number;
}

type Texts = { readonly [Name in (typeof ruleFileNames)[number]]?: string };

/** The copy of the rule files that an operator applied. On disk it is whole, the old one or the new one, at any moment. */
export class KeptRuleFiles {
  readonly #file: string;
  readonly #key: RulesKey;

  constructor(file: string, key: RulesKey) {
    this.#file = file;
    this.#key = key;
  }

  /** Undefined: nothing was applied yet. Throws ConfigError when the copy is not what was written last. */
  read(folder: string): KeptFiles | undefined {
    const kept = this.#parse();
    if (kept === undefined) return undefined;
    const { texts, sequence } = kept;
    const files = ruleFileNames.map((name) => {
      const text = texts[name];
      return {
        ...{ name, file: join(resolve(folder), name) },
        ...(text === undefined ? {} : { bytes: Buffer.from(text, 'base64') }),
      };
    });
    return { files, sequence };
  }

  write({ files, sequence }: KeptFiles): void {
    const texts = Object.fromEntries(
      files.flatMap(({ name, bytes }) =>
        bytes === undefined ? [] : [[name, Buffer.from(bytes).toString('base64')] as const],
      ),
    );
    const tag = this.#tag(texts, sequence).toString('hex');
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    writeDurably({ file: this.#file, bytes: Buffer.from(JSON.stringify({ files: texts, sequence, tag })) }, 0o600);
  }

  #parse(): { readonly texts: Texts; readonly sequence: number } | undefined {
    const text = readIfPresent(this.#file);
    if (text === undefined) return undefined;
    const kept = parseObject(text);
    const { files, sequence, tag } = kept ?? {};
    if (isTexts(files) && typeof sequence === 'number' && typeof tag === 'string') {
      const [given, expected] = [Buffer.from(tag, 'hex'), this.#tag(files, sequence)];
      const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
      if (isOurs || this.#key.isNew) return { texts: files, sequence };
      throw this.#refuse('was changed by something other than Sallyport');
    }
    // As versions before wrote it.
    if (isTexts(kept) && this.#key.isNew) return { texts: kept, sequence: 0 };
    throw this.#refuse('is damaged');
  }

  #refuse(what: string): ConfigError {
    return new ConfigError(
      `${this.#file} ${what}, so it is not known which rules were applied.`,
      'Look at the rule files, then remove it: the next start applies them.',
    );
  }

  #tag(texts: Texts, sequence: number): Buffer {
    const about = ruleFileNames.map((name) => texts[name] ?? null);
    return createHmac('sha256', this.#key.secret)
      .update(JSON.stringify(['applied rules v1', sequence, ...about]))
      .digest();
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isTexts(value: unknown): value is Texts {
  return typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string');
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
