import type { WayOut } from './send-request.ts';

/** What the tools of this family are made with. */
export interface WebParts {
  /** Takes the secrets that the gate holds out of what others wrote. */
  readonly hide: (text: string) => string;
  /** Absent: the network of this machine. */
  readonly wayOut?: WayOut;
}
