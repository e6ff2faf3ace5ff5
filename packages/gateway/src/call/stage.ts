import type { CallFacts, Draft } from './call.ts';
import type { Refusal } from './refusal.ts';

/** What every stage may use besides the facts of the call. */
export interface Context {
  readonly nowMs: () => number;
}

/**
 * One step of a call. It reads the facts it needs and assigns the facts it adds, or refuses; it throws only for our own
 * faults. `Needs` keeps a stage behind the ones that supply its facts: a wrong order does not compile. It returns a
 * promise only when it has to wait.
 */
export interface Stage<Needs, Adds extends object = object> {
  readonly name: string;
  readonly run: (call: Working<Needs, Adds>, context: Context) => Passed | Promise<Passed>;
}

/** A call as a stage works on it: what it adds is its to assign, also where an earlier stage has said something of it. */
export type Working<Needs, Adds> = Omit<Needs, keyof Adds> & Draft<Omit<Adds, keyof Needs>> & Again<Adds, keyof Needs>;

type Again<Adds, Known> = { -readonly [Name in keyof Adds as Name extends Known ? Name : never]: Adds[Name] };

/** Undefined: the call goes on. */
export type Passed = Refusal | undefined;

/** How a call ended, and how far it came: the facts gathered by then. */
export type Ending<Facts> =
  | { readonly kind: 'completed'; readonly call: Facts }
  | { readonly kind: 'refused'; readonly call: Gathered<Facts>; readonly refusal: Refusal; readonly stage: string }
  | { readonly kind: 'faulted'; readonly call: Gathered<Facts>; readonly fault: Error; readonly stage: string };

/** How a call through all the stages ended. */
export type CallEnding = Ending<CallFacts>;

export type Gathered<Facts> = { readonly [Name in keyof Facts]?: Facts[Name] | undefined };

/**
 * Runs for every ending. A required closer runs before the answer, and when it fails the call has failed; the others
 * run after the answer and cannot change it.
 */
export interface Closer<Facts> {
  readonly name: string;
  readonly required: boolean;
  readonly run: (ending: Ending<Facts>, context: Context) => Promise<void> | void;
}
