import type { Trouble } from './read-trouble.ts';

/** An ending in one of the forms, ready to be sent. */
export interface Presented {
  readonly status: number;
  /** Members that are undefined are not sent. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Absent: the call succeeded. */
  readonly trouble?: Trouble;
}
