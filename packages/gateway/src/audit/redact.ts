import type { Json } from '@sallyport/contract';

const secretWords =
  /(?:^|_)(?:pass(?:word|wd|phrase)|pwd|secret|token|(?:api|access|private|secret|signing)_?key|credentials?|authorization|cookie|bearer)(?:_|$)/;
const longestText = 1000;
const mostItems = 50;
const shortestKnownSecret = 6;

/**
 * Takes secrets out of what is about to be recorded, logged or shown: values under telling key names, and values we
 * know to be secret wherever they stand. Also bounds sizes, because a record is evidence, not a copy.
 */
export class Redactor {
  readonly #known = new Set<string>();
  #pattern: RegExp | undefined;

  constructor(knownSecrets: Iterable<string> = []) {
    for (const secret of knownSecrets) this.learn(secret);
  }

  /** From now on this value appears nowhere. Very short values are ignored: they would blank ordinary text. */
  learn(secret: string): void {
    if (secret.length < shortestKnownSecret) return;
    this.#known.add(secret);
    // The same value may stand inside JSON, a URL or base64.
    for (const form of [
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64'),
    ]) {
      this.#known.add(form);
    }
    const longestFirst = [...this.#known].sort((a, b) => b.length - a.length);
    this.#pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g');
  }

  redactText(text: string): string {
    return this.#pattern === undefined ? text : text.replace(this.#pattern, '[redacted]');
  }

  /** A copy of `value` that is safe to keep. */
  redactJson(value: Json): Json {
    if (typeof value === 'string') return this.#bounded(this.redactText(value));
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const kept = value.slice(0, mostItems).map((item) => this.redactJson(item as Json));
      return value.length > mostItems ? [...kept, `[${value.length - mostItems} more]`] : kept;
    }
    const copy = Object.create(null) as Record<string, Json>;
    let count = 0;
    for (const [key, member] of Object.entries(value)) {
      if (++count > mostItems) {
        copy['[more]'] = Object.keys(value).length - mostItems;
        break;
      }
      const secret = isSecretName(key) && member !== null && typeof member !== 'boolean';
      copy[this.#bounded(this.redactText(key))] = secret ? '[redacted]' : this.redactJson(member);
    }
    return copy;
  }

  #bounded(text: string): string {
    if (text.length <= longestText) return text;
    return `${text.slice(0, longestText).toWellFormed()}… [${text.length} characters]`;
  }
}

/** Looks at whole words, so that `access_token` is secret and `max_tokens` is not. */
function isSecretName(name: string): boolean {
  const words = name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_');
  return secretWords.test(words.toLowerCase());
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Values of environment variables whose names say that they are secret. */
export function secretsOfEnvironment(environment: Readonly<Record<string, string | undefined>>): string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && isSecretName(name)) found.push(value);
  }
  return found;
}
