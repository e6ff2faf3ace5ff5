import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '@sallyport/contract';
import { isJsonObject, parseStrictJson } from '@sallyport/contract';

/** What a program printed when it was asked for its schema. */
export type Answer =
  /** The JSON it printed, not looked into. */
  | { readonly kind: 'described'; readonly printed: Json }
  /** It ran and gave no description. */
  | ({ readonly kind: 'unknown' } & Complaint)
  /** It was ended before it had given one. On a machine with less to do it might. */
  | ({ readonly kind: 'slow' } & Complaint)
  /** It does not run at all. */
  | ({ readonly kind: 'broken' } & Complaint);

export interface Complaint {
  /** In our words. */
  readonly reason: string;
  /** What it wrote to standard error. Empty: nothing. */
  readonly stderr: string;
}

const format = 2;

/**
 * Answers by the hash of the program, on disk: the same bytes are asked once. A cache can be lost at any time, and one
 * that cannot be read is as good as none. What was printed is judged anew each time, by the rules of the day.
 */
export class DescriptionCache {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<DescriptionCache> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new DescriptionCache(folder);
  }

  async read(sha256: string): Promise<Answer | undefined> {
    try {
      const kept = parseStrictJson(await readFile(this.#fileOf(sha256), 'utf8'));
      return isJsonObject(kept) && kept['format'] === format ? readAnswer(kept['answer']) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Best effort: without it the program is asked again, and so are slow ones after a restart. */
  async write(sha256: string, answer: Answer): Promise<void> {
    if (answer.kind === 'slow') return;
    const draft = join(this.#folder, `.${randomUUID()}`);
    try {
      await writeFile(draft, JSON.stringify({ format, answer }), { mode: 0o600, flag: 'wx' });
      await rename(draft, this.#fileOf(sha256));
    } catch {
      await rm(draft, { force: true }).catch(() => undefined);
    }
  }

  #fileOf(sha256: string): string {
    return join(this.#folder, `${sha256}.json`);
  }
}

function readAnswer(value: Json | undefined): Answer | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, printed, reason, stderr } = value;
  if (kind === 'described' && printed !== undefined) return { kind, printed };
  if ((kind !== 'unknown' && kind !== 'broken') || typeof reason !== 'string' || typeof stderr !== 'string')
    return undefined;
  return { kind, reason, stderr };
}
