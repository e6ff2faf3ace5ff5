import type { Json, JsonObject } from '@sallyport/contract';
import { encodeRedacted, ownText } from '../call/redacted.ts';
import type { Redacted, RedactedJson } from '../call/redacted.ts';
import { CleanTexts } from './clean-texts.ts';
import { CredentialFinder } from './find-credentials.ts';
import { KnownSecrets } from './known-secrets.ts';
import { shortestSecret } from './secret-forms.ts';
import { isSecretName, findSecretsWithin } from './secret-names.ts';
import { blankSpans, redacted } from './span.ts';
import type { Span } from './span.ts';

const longestKept = 1000;
const longestText = 1024 * 1024;
const mostItems = 50;
/** How much of one value is looked at, all its texts together; more would not fit into a record. */
const mostCharacters = 128 * 1024;
const smallestLongNumber = 10 ** (shortestSecret - 1);
/** Enough of what follows a cut to recognise a credential that begins before it. */
const lookahead = 512;

const mark = ownText(redacted);
/** The replacement of a secret. `isHeld`: it is the whole of one that the gate knows, and nobody else chose. */
export type WriteSecretMark = (
  value: string,
  secret: { readonly name: string | undefined; readonly isHeld: boolean },
) => string;

interface Budget {
  charactersLeft: number;
}

/**
 * Takes secrets out of what is about to be recorded, logged or shown: values under telling key names, values we know to
 * be secret wherever they stand, and what has the shape of a well-known credential. Also bounds sizes, because a record
 * is evidence, not a copy. The cost grows only with the length of the text, even of a hostile one.
 */
export class Redactor {
  readonly #known = new KnownSecrets();
  readonly #credentials = new CredentialFinder();
  readonly #clean = new CleanTexts();

  constructor(knownSecrets: Iterable<string | NamedSecret> = []) {
    for (const secret of knownSecrets) {
      if (typeof secret === 'string') this.learn(secret);
      else this.learn(secret.value, secret.name);
    }
  }

  /**
   * From now on this value appears nowhere. Very short values are ignored: they would blank ordinary text. The name says
   * to people which one it is. Absent: it has no name. `isForeign`: somebody outside chose it, such as an upstream server
   * that gave us a token, so that it could be anything, also a command. The password in an address or in a file of
   * settings is a secret of its own: programs complain about it alone.
   */
  learn(secret: string, name?: string, origin: { readonly isForeign?: boolean } = {}): void {
    this.#clean.forget();
    this.#known.learn(secret, name, origin);
    const shaped = this.#credentials.find(secret).map(({ start, end }) => secret.slice(start, end));
    for (const inner of [...shaped, ...findSecretsWithin(secret)]) {
      // Frames of keys and whole addresses stand elsewhere too.
      if (!/^-----|:\/\//.test(inner)) this.#known.learn(inner, name, origin);
    }
  }

  /** Grows with every secret: what was redacted when it was smaller may hold one that is known by now. */
  get secretCount(): number {
    return this.#known.size;
  }

  /** A text for people. What is longer than anyone reads ends with a note of how long it was. */
  readonly redactText = (text: string): Redacted => this.#redact(text, longestText);

  /** All of it, however long, with a mark of one's own in the place of each secret. */
  markSecrets(text: string, writeMark: WriteSecretMark): Redacted {
    const known = this.#known.find(text, { isCut: false });
    const spans = [...known, ...this.#credentials.find(text)];
    return blankSpans(text, spans, text.length, (value, span) =>
      writeMark(value, { name: span.name, isHeld: this.#known.holds(value) }),
    ) as Redacted;
  }

  /** The same for those only that the gate holds: what merely looks like a credential stays. */
  markHeldSecrets(text: string, writeMark: WriteSecretMark): string {
    const known = this.#known.find(text, { isCut: false });
    return blankSpans(text, known, text.length, (value, { name }) => writeMark(value, { name, isHeld: true }));
  }

  /**
   * For people who look at what was written by others or long ago: without the secrets that the gate holds by now. What
   * merely looks like one stays, and so does what somebody outside chose: neither may hide anything from them.
   */
  readonly hideHeld = (text: string): string =>
    blankSpans(text, this.#known.find(text, { isCut: false, onlyHeld: true }));

  /** The same for all texts, names and numbers of a value. */
  readonly hideHeldIn = (value: Json): Json => {
    if (typeof value === 'string') return this.hideHeld(value);
    if (typeof value === 'number') return this.hideHeld(String(value)) === String(value) ? value : redacted;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(this.hideHeldIn);
    const members = Object.entries(value as JsonObject);
    return Object.fromEntries(members.map(([key, member]) => [this.hideHeld(key), this.hideHeldIn(member)]));
  };

  /** The same for a text of JSON, which stays one. */
  readonly hideHeldInJson = (json: string): string =>
    this.hideHeld(json) === json ? json : JSON.stringify(this.hideHeldIn(JSON.parse(json) as Json));

  /**
   * The beginning of a text that goes on, up to `limit` or to where something begins before it that may be a secret and
   * reaches beyond. `length`: how much of the text that was.
   */
  redactStart(text: string, limit: number): { readonly shown: Redacted; readonly length: number } {
    const spans = [...this.#known.find(text, { isCut: true }), ...this.#credentials.find(text), ...openKey(text)];
    const crossed = spans.filter(({ start, end }) => start < limit && (end > limit || end === text.length));
    const length = Math.min(limit, ...crossed.map(({ start }) => start));
    return { shown: blankSpans(text, spans, length) as Redacted, length };
  }

  /** A copy of `value` that is safe to keep. */
  redactJson(value: Json): RedactedJson {
    return this.#copy(value, { charactersLeft: mostCharacters });
  }

  /** The same value with all that it has; only its texts, names and numbers are looked at, each by itself. */
  redactTexts(value: Json): RedactedJson {
    if (typeof value === 'string') return this.redactText(value);
    if (typeof value === 'number') return this.#copyNumber(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: Json) => this.redactTexts(item));
    const members = Object.entries(value as JsonObject);
    return Object.fromEntries(members.map(([key, member]) => [this.redactText(key), this.redactTexts(member)]));
  }

  /** The payload of a record about something that happened outside of any call. */
  redactEvent(event: JsonObject): Redacted {
    return encodeRedacted(this.redactJson(event));
  }

  #copy(value: Json, budget: Budget): RedactedJson {
    switch (typeof value) {
      case 'string':
        return this.#copyText(value, budget);
      case 'number':
        return this.#copyNumber(value);
      case 'object':
        if (value === null) return null;
        return Array.isArray(value) ? this.#copyList(value, budget) : this.#copyObject(value as JsonObject, budget);
      default:
        return value;
    }
  }

  #copyNumber(value: number): Redacted | number {
    return Math.abs(value) >= smallestLongNumber && this.redactText(String(value)) !== String(value) ? mark : value;
  }

  #copyText(text: string, budget: Budget): Redacted {
    budget.charactersLeft -= Math.min(text.length, longestKept + lookahead);
    return budget.charactersLeft < 0 ? ownText(`[${text.length} characters]`) : this.#redact(text, longestKept);
  }

  #copyList(list: readonly Json[], budget: Budget): RedactedJson {
    const kept = list.slice(0, mostItems).map((item, at) => {
      return isSecretOption(list[at - 1]) && typeof item === 'string' ? mark : this.#copy(item, budget);
    });
    return list.length > mostItems ? [...kept, ownText(`[${list.length - mostItems} more]`)] : kept;
  }

  #copyObject(value: JsonObject, budget: Budget): RedactedJson {
    const copy: Record<string, RedactedJson> = {};
    // `{ "name": "DB_PASSWORD", "value": … }`: lists of headers and variables look like this.
    const named = value['name'] ?? value['key'];
    const holdsSecret = typeof named === 'string' && isSecretName(named);
    let count = 0;
    for (const key of Object.keys(value)) {
      const member = value[key] as Json;
      if (++count > mostItems) {
        copy['[more]'] = Object.keys(value).length - mostItems;
        break;
      }
      const isSecret = isSecretName(key, member) || (holdsSecret && key === 'value');
      const isTelling = member !== null && typeof member !== 'boolean';
      const name = this.#copyText(key, budget);
      const shown = isSecret && isTelling ? mark : this.#copy(member, budget);
      if (name === '__proto__') Object.defineProperty(copy, name, { value: shown, enumerable: true });
      else copy[name] = shown;
    }
    return copy;
  }

  /** The only place where text becomes redacted. What is cut here is cut after a look at what follows. */
  #redact(text: string, most: number): Redacted {
    if (text.length < shortestSecret) return text as Redacted;
    if (text.length <= most) return this.#redactWhole(text);
    const seen = text.slice(0, most + lookahead);
    return `${this.#blank(seen, most).toWellFormed()}… [${text.length} characters]` as Redacted;
  }

  #redactWhole(text: string): Redacted {
    if (this.#clean.has(text)) return text as Redacted;
    const shown = this.#blank(text, text.length);
    if (shown === text) this.#clean.add(text);
    return shown as Redacted;
  }

  #blank(text: string, length: number): string {
    const known = this.#known.find(text, { isCut: length < text.length });
    const shaped = this.#credentials.find(text);
    if (known.length + shaped.length === 0) return text.slice(0, length);
    return blankSpans(text, [...known, ...shaped], length);
  }
}

/** A private key whose end has not come yet. */
function openKey(text: string): Span[] {
  const start = text.lastIndexOf('-----BEGIN ');
  return start < 0 || text.includes('-----END ', start) ? [] : [{ start, end: text.length }];
}

/** An option such as `--api-key`, whose value is the next argument. */
function isSecretOption(argument: Json | undefined): boolean {
  return typeof argument === 'string' && /^--?[A-Za-z][\w-]{1,64}$/.test(argument) && isSecretName(argument);
}

/** A secret that people know by a name. */
export interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

/** Environment variables whose names say that they are secret. */
export function secretsOfEnvironment(environment: Readonly<Record<string, string | undefined>>): NamedSecret[] {
  const found: NamedSecret[] = [];
  for (const [name, value] of Object.entries(environment)) {
    // The shell's name for the present folder, which is part of every path.
    if (name === 'PWD' || name === 'OLDPWD' || name === 'GOOGLE_APPLICATION_CREDENTIALS') continue;
    if (value !== undefined && isSecretName(name)) found.push({ name, value });
  }
  return found;
}
