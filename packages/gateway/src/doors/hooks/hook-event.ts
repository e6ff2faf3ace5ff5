import type { JsonObject } from '@sallyport/contract';
import type { ClientOutcome } from '../../call/client-run.ts';

/** What a hook of a client says, in our words. */
export type HookEvent =
  /** The client is about to use a tool, and does as it is told. */
  | (UseOfTool & { readonly kind: 'before'; readonly call: MappedCall | undefined })
  /** It has. */
  | (UseOfTool & { readonly kind: 'after'; readonly outcome: ClientOutcome })
  /** The client, or its turn, is over: what it has not told until now, it will not tell. */
  | { readonly kind: 'over'; readonly clientSession: string }
  /** Nothing that the gate has a say in. */
  | { readonly kind: 'other' };

export interface UseOfTool {
  readonly clientSession: string;
  readonly useId: string;
  /** The client gives no ids, so two uses of the same tool with the same input have the same one. */
  readonly isSharedId?: boolean;
  /** Where the client works. */
  readonly cwd: string;
}

/** A use of a tool, as a call of a canonical tool. Undefined: the gate judges it elsewhere. */
export interface MappedCall {
  readonly tool: string;
  readonly input: JsonObject;
  /** The input with which the client uses its own tool if another command takes the place of this one. Absent: none can. */
  readonly rewritten?: (command: string) => JsonObject;
}

/** What the hook program knows beside what the client says. It runs as the user of the client; nothing of it is proof. */
export interface HookPlace {
  /** Where the hook program was started. Empty: it did not say. */
  readonly folder: string;
  /** The home folder of the user of the client. Empty: it did not say. It only ever makes a verdict stricter. */
  readonly home: string;
  /** The hook program has looked up that the server which the client calls `sallyport` is ours. */
  readonly isOwnServer: boolean;
}

/** What the hook program writes and how it ends. */
export interface HookReply {
  /** For standard output. Absent: nothing. */
  readonly output?: JsonObject;
  /** 2 blocks, for every client. */
  readonly exitCode: 0 | 2;
  /** For standard error. */
  readonly message?: string;
}

/** What the gate decided about the use of a tool. */
export type HookDecision =
  | { readonly kind: 'allow'; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string }
  /** It goes on with another input. */
  | { readonly kind: 'rewrite'; readonly reason: string; readonly input: JsonObject }
  /** It has no say: the client asks as it does without us. */
  | { readonly kind: 'none' };

/** A client whose hooks we speak. */
export interface HookClient {
  /** Throws RpcError for what is no hook of this client. */
  readonly readEvent: (payload: JsonObject, place: HookPlace) => HookEvent;
  readonly present: (decision: HookDecision) => HookReply;
}
