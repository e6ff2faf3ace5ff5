import type { Mode, Session } from './session.ts';
import type { ToolDefinition } from './tool.ts';

/** What is known of a call whose effect is about to begin. */
export interface BegunCall {
  readonly tool: Pick<ToolDefinition, 'name' | 'mutates' | 'audience'>;
  /** In which it was let through. */
  readonly mode: Mode;
  /** Whether it has effects elsewhere, which nobody here can stop or take back. */
  readonly reachesOut: boolean;
}

/** A call's entry in the list of those under way, which stages tell how far it has come. */
export interface UnderWay {
  /** Whose call it is: known from here on. */
  readonly identify: (session: Pick<Session, 'id' | 'agent'>) => void;
  /** Its effect begins. */
  readonly begin: (call: BegunCall) => void;
}
