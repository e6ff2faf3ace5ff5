import { ownText } from '../call/redacted.ts';
import type { Redacted } from '../call/redacted.ts';
import type { Redactor } from './redact.ts';

/** More than the longest secret, however it is escaped. */
const mostHeld = 512 * 1024;
const shortHeld = 1024;

/**
 * Redacts a text that arrives in pieces. It lets go of whole lines only, and not of the beginning of what may be a
 * secret that goes on; a text without lines is let go of long after it has come.
 */
export class RedactedStream {
  readonly #redactor: Pick<Redactor, 'redactText' | 'redactStart'>;
  #held = '';
  #hasLine = false;
  /** Looking at the same text again for each new character of it would take too long. */
  #lookAt = 0;

  constructor(redactor: Pick<Redactor, 'redactText' | 'redactStart'>) {
    this.#redactor = redactor;
  }

  /** What can be shown by now. May be empty. */
  add(text: string): Redacted {
    this.#held += text;
    this.#hasLine ||= text.includes('\n');
    const isLong = this.#held.length > 2 * mostHeld;
    if (!isLong && (!this.#hasLine || this.#held.length < this.#lookAt)) return ownText('');
    const limit = isLong ? this.#held.length - mostHeld : this.#held.lastIndexOf('\n') + 1;
    const { shown, length } = this.#redactor.redactStart(this.#held, limit);
    this.#held = this.#held.slice(length);
    this.#hasLine = this.#held.includes('\n');
    this.#lookAt = this.#held.length <= shortHeld ? 0 : 2 * this.#held.length;
    return shown;
  }

  /** The rest of it. */
  end(): Redacted {
    const rest = this.#held;
    this.#held = '';
    return this.#redactor.redactText(rest);
  }
}
