/** An agent that goes on although it was told to slow down, or one whose session had to be shut off. */
export interface Abuse {
  readonly kind: 'limits_ignored' | 'session_quarantined';
  readonly sessionId: string;
  readonly agent: string;
  /** Of the last call. Empty: it named none that there is. */
  readonly tool: string;
  /** That refused the last call. Empty: it ran and failed. */
  readonly rule: string;
  /** Within the window of ten minutes, of those that ran into limits. */
  readonly refusals: number;
}
