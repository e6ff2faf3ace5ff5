import type { Refusal } from './refusal.ts';

/** What every stage may use besides the facts of the call. */
export interface Context {
  readonly nowMs: () => number;
}

/**
 * One step of a call. It reads the facts it needs and returns the facts it adds, or refuses; it throws only for our
 * own faults. `Needs` keeps a stage behind the ones that supply its facts: a wrong order does not compile.
 */
export interface Stage<Needs, Adds extends object = object> {
  readonly name: string;
  readonly run: (call: Needs, context: Context) => Promise<Adds | Refusal> | Adds | Refusal;
}

/** How a call ended, and how far it came: the facts gathered by then. */
export type Ending<Facts> =
  | { readonly kind: 'completed'; readonly call: Facts }
  | { readonly kind: 'refused'; readonly call: Partial<Facts>; readonly refusal: Refusal; readonly stage: string }
  | { readonly kind: 'faulted'; readonly call: Partial<Facts>; readonly fault: Error; readonly stage: string };

/**
 * Runs for every ending. A required closer runs before the answer, and when it fails the call has failed; the others
 * run after the answer and cannot change it.
 */
export interface Closer<Facts> {
  readonly name: string;
  readonly required: boolean;
  readonly run: (ending: Ending<Facts>, context: Context) => Promise<void>;
}
