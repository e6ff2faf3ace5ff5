import { LiteralStarts } from './literal-starts.ts';
import { viewPlain } from './plain-view.ts';
import { shortestSecret, writeForms } from './secret-forms.ts';
import type { SecretForm } from './secret-forms.ts';
import type { Span } from './span.ts';

/** A few characters of a form, by which it is found. */
interface Anchor {
  readonly form: SecretForm;
  readonly offset: number;
}

interface Sought {
  readonly isCut: boolean;
  readonly onlyHeld: boolean;
}

const none: readonly Span[] = [];
/** This many characters of a secret are no coincidence, even if they are words. */
const tellingWords = 24;
/** Of these every place is an anchor. */
const longestShort = 32;
/** A secret that repeats itself is found by some of its places as well as by all of them, and sooner. */
const mostAlike = 32;
/** Of all forms together: thousands of lines that begin alike are told apart by where they differ. */
const mostAnchors = 512;

/**
 * The secrets we know, found anywhere in a text. The author of the text may have cut a secret in it, so that
 * its beginning, its end and every longer piece of it are found too.
 */
export class KnownSecrets {
  readonly #starts = new LiteralStarts({ length: shortestSecret });
  readonly #anchors = new Map<string, Anchor[]>();
  readonly #known = new Set<string>();
  /** Of them, those that nobody outside chose. */
  readonly #held = new Set<string>();
  readonly #names = new Map<SecretForm, string>();
  /** Every piece of this many characters, of any form, contains an anchor. */
  #widest = shortestSecret;

  /** The name is for people who are shown that something was taken out. Absent: it has no name. */
  learn(secret: string, name?: string, { isForeign = false } = {}): void {
    const value = secret.trim();
    if (value.length < shortestSecret) return;
    for (const form of writeForms(value)) {
      if (!isForeign) this.#held.add(form.text);
      if (this.#known.has(form.text)) continue;
      this.#known.add(form.text);
      if (name !== undefined) this.#names.set(form, name);
      this.#widest = Math.max(this.#widest, form.tellingLength);
      for (const offset of anchorOffsets(form)) this.#add({ form, offset });
    }
  }

  /** How many ways to write a secret are known. They are never forgotten. */
  get size(): number {
    return this.#known.size;
  }

  /** Whether the text is the whole of a secret, in one of the ways to write it, and no foreign one. */
  holds(text: string): boolean {
    return this.#held.has(text);
  }

  /**
   * In the text as it stands, and as it reads when its escapes are undone, however often it was escaped. `isCut`: the
   * text went on, so that its end may be the beginning of a secret. `onlyHeld`: none that somebody outside chose. In the
   * order of their beginnings.
   */
  find(text: string, search: { readonly isCut: boolean; readonly onlyHeld?: boolean }): readonly Span[] {
    if (this.#known.size === 0) return none;
    const { isCut, onlyHeld = false } = search;
    const sought = { isCut, onlyHeld };
    const found = this.#findIn(text, sought);
    const view = viewPlain(text);
    if (view === undefined) return found;
    const unescaped = this.#findIn(view.text, sought).map((span) => ({
      ...span,
      ...view.locate(span.start, span.end),
    }));
    return [...found, ...unescaped].sort((a, b) => a.start - b.start);
  }

  #findIn(text: string, sought: Sought): readonly Span[] {
    let spans: Span[] | undefined;
    let covered: Span | undefined;
    for (let at = this.#starts.next(text, 0); at !== -1;) {
      const span = this.#spanAround(text, at, sought, covered);
      if (span !== undefined) {
        (spans ??= []).push(span);
        covered = covered === undefined || span.start > covered.end ? span : joinSpans(covered, span);
      }
      at = this.#starts.next(text, this.#placeAfter(at, covered));
    }
    return spans ?? none;
  }

  /**
   * Forms share pieces, and each has anchors of its own. So one that goes on where another ended may be found only by an
   * anchor within what is covered; those that tell of it stand near the edges, and what is between them is passed over.
   */
  #placeAfter(at: number, covered: Span | undefined): number {
    if (covered === undefined || at + 1 < covered.start + this.#widest - shortestSecret) return at + 1;
    return Math.max(at + 1, covered.end + 1 - this.#widest);
  }

  /** All that the anchors at this place tell of, unless it is covered already. */
  #spanAround(text: string, at: number, { isCut, onlyHeld }: Sought, covered: Span | undefined): Span | undefined {
    let around: Span | undefined;
    let longest = 0;
    for (const anchor of this.#anchors.get(text.slice(at, at + shortestSecret)) ?? []) {
      if (covered !== undefined && at < covered.end && !reachesOut(text, at, anchor, covered)) continue;
      const { form, offset } = anchor;
      if (onlyHeld && !this.#held.has(form.text)) continue;
      const span = commonSpan(text, at, form.text, offset);
      const length = span.end - span.start;
      const isWhole = length === form.text.length;
      const goesOn = isCut && span.end === text.length && at - span.start === offset;
      if (!isWhole && !goesOn && !isTelling(form, offset - (at - span.start), length)) continue;
      const whole = isWhole && form.inBase64 ? widenInBase64(text, span) : span;
      const joined = around === undefined ? whole : joinSpans(around, whole);
      const name = length > longest ? this.#names.get(form) : around?.name;
      around = { start: joined.start, end: joined.end, ...(name !== undefined && { name }) };
      longest = Math.max(longest, length);
    }
    return around;
  }

  #add(anchor: Anchor): void {
    const key = anchor.form.text.slice(anchor.offset, anchor.offset + shortestSecret);
    const alike = this.#anchors.get(key);
    if (alike === undefined) this.#anchors.set(key, [anchor]);
    // Those of one form come one after the other, so the last ones tell how many there are.
    else if (alike.length < mostAnchors && alike.at(-mostAlike)?.form !== anchor.form) alike.push(anchor);
    this.#starts.add(key);
  }
}

/** The first characters, the last ones, and so many all along that every telling piece holds some of them. */
function anchorOffsets({ text: { length }, tellingLength }: SecretForm): number[] {
  const last = length - shortestSecret;
  const distance = length <= longestShort ? 1 : tellingLength - shortestSecret + 1;
  const offsets = Array.from({ length: Math.ceil((last + 1) / distance) }, (_, index) => index * distance);
  return offsets.at(-1) === last ? offsets : [...offsets, last];
}

/**
 * Whether the form, laid over the text as its anchor says, may cover more than is covered. A look at the two characters
 * next to that spares us most comparisons, without which texts that repeat a secret would be slow.
 */
function reachesOut(text: string, at: number, { form, offset }: Anchor, { start, end }: Span): boolean {
  const from = at - offset;
  // In base64 the neighbours of a whole form count too.
  if (form.inBase64 && (from === start || from + form.text.length === end)) return true;
  return (
    (from < start && form.text.charCodeAt(start - 1 - from) === text.charCodeAt(start - 1)) ||
    form.text.charCodeAt(end - from) === text.charCodeAt(end)
  );
}

function joinSpans(a: Span, b: Span): Span {
  return { start: Math.min(a.start, b.start), end: Math.max(a.end, b.end) };
}

/** How far text and form agree to both sides of where the anchor stands. */
function commonSpan(text: string, at: number, form: string, offset: number): Span {
  let before = 0;
  while (before < offset && form.charCodeAt(offset - 1 - before) === text.charCodeAt(at - 1 - before)) before++;
  let after = shortestSecret;
  while (offset + after < form.length && form.charCodeAt(offset + after) === text.charCodeAt(at + after)) after++;
  return { start: at - before, end: at + after };
}

/** Whether a piece of a form is no coincidence: a long one, most of it, or some of what is random in it. */
function isTelling({ text, randomParts, tellingLength }: SecretForm, start: number, length: number): boolean {
  if (length >= tellingWords || length * 4 > text.length * 3) return true;
  const end = start + length;
  return randomParts.some((part) => Math.min(part.end, end) - Math.max(part.start, start) >= tellingLength);
}

function widenInBase64(text: string, { start, end }: Span): Span {
  const before = /[A-Za-z0-9+/_-]/.test(text[start - 1] ?? '') ? 1 : 0;
  const after = /^[A-Za-z0-9+/_-]?={0,2}/.exec(text.slice(end, end + 3))?.[0].length ?? 0;
  return { start: start - before, end: end + after };
}
