import { LiteralStarts } from './literal-starts.ts';
import { shortestSecret, writeForms } from './secret-forms.ts';
import type { SecretForm } from './secret-forms.ts';
import type { Span } from './span.ts';

const none: readonly Span[] = [];

/** The secrets we know, found wherever they stand in a text. */
export class KnownSecrets {
  readonly #starts = new LiteralStarts();
  /** By their first characters, the longest first: no part of a secret that contains another one stays behind. */
  readonly #forms = new Map<string, SecretForm[]>();

  learn(secret: string): void {
    const value = secret.trim();
    if (value.length < shortestSecret) return;
    for (const form of writeForms(value)) this.#add(form);
  }

  /** `isCut`: the text went on, so that its end may be the beginning of a secret. */
  find(text: string, { isCut }: { readonly isCut: boolean }): readonly Span[] {
    if (this.#forms.size === 0) return none;
    let spans: Span[] | undefined;
    for (let at = this.#starts.next(text, 0); at !== -1;) {
      const span = this.#spanAt(text, at, isCut);
      if (span !== undefined) (spans ??= []).push(span);
      at = this.#starts.next(text, Math.max(at + 1, span?.end ?? 0));
    }
    return spans ?? none;
  }

  #spanAt(text: string, at: number, isCut: boolean): Span | undefined {
    const alike = this.#forms.get(text.slice(at, at + shortestSecret));
    if (alike === undefined) return undefined;
    const rest = text.slice(at);
    if (isCut && alike.some((form) => form.text.startsWith(rest))) return { start: at, end: text.length };
    const form = alike.find((candidate) => rest.startsWith(candidate.text));
    if (form === undefined) return undefined;
    const end = at + form.text.length;
    return form.inBase64 ? widenInBase64(text, at, end) : { start: at, end };
  }

  #add(form: SecretForm): void {
    const start = form.text.slice(0, shortestSecret);
    const alike = this.#forms.get(start) ?? [];
    if (alike.some(({ text }) => text === form.text)) return;
    this.#forms.set(
      start,
      [...alike, form].sort((a, b) => b.text.length - a.text.length),
    );
    this.#starts.add(start);
  }
}

function widenInBase64(text: string, start: number, end: number): Span {
  const before = /[A-Za-z0-9+/_-]/.test(text[start - 1] ?? '') ? 1 : 0;
  const after = /^[A-Za-z0-9+/_-]?={0,2}/.exec(text.slice(end, end + 3))?.[0].length ?? 0;
  return { start: start - before, end: end + after };
}
