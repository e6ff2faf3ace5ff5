import { wholeText } from '../whole-text.ts';

/**
 * The gate does not connect to this host. The caller sees the whole message, so it names no address behind the name.
 */
export class HostRefused extends Error {
  /** `host:port`, or what was asked for instead, made printable. */
  readonly target: string;
  /** What would let it through. Absent: nothing would. */
  readonly remedy: string | undefined;

  constructor(target: string, reason: string, remedy?: string) {
    super(reason);
    this.name = 'HostRefused';
    this.target = showTarget(target);
    this.remedy = remedy;
  }
}

/** The caller chose this text: it must not break a line of a log or of an answer. */
export function showTarget(target: string): string {
  return wholeText(target, 300).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
