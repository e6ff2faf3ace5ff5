import { LiteralStarts } from './literal-starts.ts';
import { looksSecret } from './looks-secret.ts';
import { shortestSecret, writeForms } from './secret-forms.ts';
import type { SecretForm } from './secret-forms.ts';
import type { Span } from './span.ts';

/** A few characters of a form, by which it is found. */
interface Anchor {
  readonly form: SecretForm;
  readonly offset: number;
}

const none: readonly Span[] = [];
const anchorDistance = 4;
/** So much of a secret is a part of it and no coincidence; of one that is random, so little. */
const tellingLength = { ofWords: 24, ofRandom: 8 };

/**
 * The secrets we know, found wherever they stand in a text. Whoever made the text may have cut a secret in it, so that
 * its beginning, its end and every longer piece of it are found too.
 */
export class KnownSecrets {
  readonly #starts = new LiteralStarts();
  readonly #anchors = new Map<string, Anchor[]>();
  readonly #known = new Set<string>();

  learn(secret: string): void {
    const value = secret.trim();
    if (value.length < shortestSecret) return;
    for (const form of writeForms(value)) {
      if (this.#known.has(form.text)) continue;
      this.#known.add(form.text);
      for (const offset of anchorOffsets(form.text.length)) this.#add({ form, offset });
    }
  }

  /** `isCut`: the text went on, so that its end may be the beginning of a secret. */
  find(text: string, { isCut }: { readonly isCut: boolean }): readonly Span[] {
    if (this.#known.size === 0) return none;
    let spans: Span[] | undefined;
    for (let at = this.#starts.next(text, 0); at !== -1;) {
      const span = this.#spanAround(text, at, isCut);
      if (span !== undefined) (spans ??= []).push(span);
      at = this.#starts.next(text, Math.max(at + 1, span?.end ?? 0));
    }
    return spans ?? none;
  }

  #spanAround(text: string, at: number, isCut: boolean): Span | undefined {
    let longest: Span | undefined;
    for (const { form, offset } of this.#anchors.get(text.slice(at, at + shortestSecret)) ?? []) {
      const span = commonSpan(text, at, form.text, offset);
      const length = span.end - span.start;
      const isWhole = length === form.text.length;
      const goesOn = isCut && span.end === text.length && at - span.start === offset;
      if (!isWhole && !goesOn && !isTelling(text, span)) continue;
      // The longest, so that no part of a secret that contains another one stays behind.
      if (longest !== undefined && longest.end - longest.start >= length) continue;
      longest = isWhole && form.inBase64 ? widenInBase64(text, span) : span;
    }
    return longest;
  }

  #add(anchor: Anchor): void {
    const key = anchor.form.text.slice(anchor.offset, anchor.offset + shortestSecret);
    const alike = this.#anchors.get(key);
    if (alike === undefined) this.#anchors.set(key, [anchor]);
    else alike.push(anchor);
    this.#starts.add(key);
  }
}

/** The first characters, the last ones, and some all along. */
function anchorOffsets(length: number): number[] {
  const last = length - shortestSecret;
  const offsets = Array.from({ length: Math.ceil((last + 1) / anchorDistance) }, (_, index) => index * anchorDistance);
  return offsets.at(-1) === last ? offsets : [...offsets, last];
}

/** How far text and form agree to both sides of where the anchor stands. */
function commonSpan(text: string, at: number, form: string, offset: number): Span {
  let before = 0;
  while (before < offset && form.charCodeAt(offset - 1 - before) === text.charCodeAt(at - 1 - before)) before++;
  let after = shortestSecret;
  while (offset + after < form.length && form.charCodeAt(offset + after) === text.charCodeAt(at + after)) after++;
  return { start: at - before, end: at + after };
}

function isTelling(text: string, { start, end }: Span): boolean {
  const length = end - start;
  return length >= tellingLength.ofWords || (length >= tellingLength.ofRandom && looksSecret(text, start, end));
}

function widenInBase64(text: string, { start, end }: Span): Span {
  const before = /[A-Za-z0-9+/_-]/.test(text[start - 1] ?? '') ? 1 : 0;
  const after = /^[A-Za-z0-9+/_-]?={0,2}/.exec(text.slice(end, end + 3))?.[0].length ?? 0;
  return { start: start - before, end: end + after };
}
