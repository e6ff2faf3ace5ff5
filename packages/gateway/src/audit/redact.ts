import type { Json, JsonObject } from '@sallyport/contract';
import { CredentialFinder } from './find-credentials.ts';
import { KnownSecrets } from './known-secrets.ts';
import { shortestSecret } from './secret-forms.ts';
import { isSecretName } from './secret-names.ts';
import { blankSpans, redacted } from './span.ts';
import type { WriteMark } from './span.ts';

const longestKept = 1000;
const longestText = 1024 * 1024;
const mostItems = 50;
/** How much of one value is looked at, all its texts together; more would not fit into a record. */
const mostCharacters = 128 * 1024;
const smallestLongNumber = 10 ** (shortestSecret - 1);
/** Enough of what follows a cut to recognise a credential that begins before it. */
const lookahead = 512;

interface Budget {
  charactersLeft: number;
}

/**
 * Takes secrets out of what is about to be recorded, logged or shown: values under telling key names, values we know to
 * be secret wherever they stand, and what has the shape of a well-known credential. Also bounds sizes, because a record
 * is evidence, not a copy. The cost grows with the text only, whoever wrote it.
 */
export class Redactor {
  readonly #known = new KnownSecrets();
  readonly #credentials = new CredentialFinder();

  constructor(knownSecrets: Iterable<string | NamedSecret> = []) {
    for (const secret of knownSecrets) {
      if (typeof secret === 'string') this.learn(secret);
      else this.learn(secret.value, secret.name);
    }
  }

  /**
   * From now on this value appears nowhere. Very short values are ignored: they would blank ordinary text. The name says
   * to people which one it is. Absent: it has none.
   */
  learn(secret: string, name?: string): void {
    this.#known.learn(secret, name);
  }

  /** A text for people. What is longer than anyone reads ends with a note of how long it was. */
  redactText(text: string): string {
    return this.#redact(text, longestText);
  }

  /** The same, with a mark of one's own in the place of each secret. */
  markSecrets(text: string, writeMark: WriteMark): string {
    return this.#redact(text, longestText, writeMark);
  }

  /** A copy of `value` that is safe to keep. */
  redactJson(value: Json): Json {
    return this.#copy(value, { charactersLeft: mostCharacters });
  }

  #copy(value: Json, budget: Budget): Json {
    switch (typeof value) {
      case 'string':
        return this.#copyText(value, budget);
      case 'number':
        return Math.abs(value) >= smallestLongNumber && this.redactText(String(value)) !== String(value)
          ? redacted
          : value;
      case 'object':
        if (value === null) return null;
        return Array.isArray(value) ? this.#copyList(value, budget) : this.#copyObject(value as JsonObject, budget);
      default:
        return value;
    }
  }

  #copyText(text: string, budget: Budget): string {
    budget.charactersLeft -= Math.min(text.length, longestKept + lookahead);
    return budget.charactersLeft < 0 ? `[${text.length} characters]` : this.#redact(text, longestKept);
  }

  #copyList(list: readonly Json[], budget: Budget): Json {
    const kept = list.slice(0, mostItems).map((item, at) => {
      return isSecretOption(list[at - 1]) && typeof item === 'string' ? redacted : this.#copy(item, budget);
    });
    return list.length > mostItems ? [...kept, `[${list.length - mostItems} more]`] : kept;
  }

  #copyObject(value: JsonObject, budget: Budget): Json {
    const copy = Object.create(null) as Record<string, Json>;
    // `{ "name": "DB_PASSWORD", "value": … }`: lists of headers and variables look like this.
    const named = value['name'] ?? value['key'];
    const holdsSecret = typeof named === 'string' && isSecretName(named);
    let count = 0;
    for (const [key, member] of Object.entries(value)) {
      if (++count > mostItems) {
        copy['[more]'] = Object.keys(value).length - mostItems;
        break;
      }
      const isSecret = isSecretName(key, member) || (holdsSecret && key === 'value');
      const isTelling = member !== null && typeof member !== 'boolean';
      copy[this.#copyText(key, budget)] = isSecret && isTelling ? redacted : this.#copy(member, budget);
    }
    return copy;
  }

  #redact(text: string, most: number, writeMark?: WriteMark): string {
    if (text.length < shortestSecret) return text;
    if (text.length <= most) return this.#blank(text, text.length, writeMark);
    const seen = text.slice(0, most + lookahead);
    return `${this.#blank(seen, most, writeMark).toWellFormed()}… [${text.length} characters]`;
  }

  #blank(text: string, length: number, writeMark: WriteMark | undefined): string {
    const known = this.#known.find(text, { isCut: length < text.length });
    const shaped = this.#credentials.find(text);
    if (known.length + shaped.length === 0) return text.slice(0, length);
    return blankSpans(text, [...known, ...shaped], length, writeMark);
  }
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
    // The shell's name for the present folder, which stands in every path.
    if (name === 'PWD' || name === 'OLDPWD' || name === 'GOOGLE_APPLICATION_CREDENTIALS') continue;
    if (value !== undefined && isSecretName(name)) found.push({ name, value });
  }
  return found;
}
