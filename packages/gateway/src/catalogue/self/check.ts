/** One thing that was looked at. `fail`: something that the gate is for does not work. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What to do, as a command where there is one. Absent: nothing needs to be done, or nothing is known. */
  readonly remedy?: string;
}
