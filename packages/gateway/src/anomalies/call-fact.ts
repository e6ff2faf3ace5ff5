import type { Code } from '@sallyport/contract';
import type { ToolDefinition } from '../call/tool.ts';
import type { EscalationSign } from './escalation-signs.ts';

/** What the detectors need to know about a call that has ended. Small: some are kept for every agent. */
export interface CallFact {
  /** Empty: a caller without a valid credential. */
  readonly agent: string;
  readonly sessionId: string;
  readonly callId: string;
  /** The canonical name; of a tool that does not exist, what was asked for, as it came. */
  readonly tool: string;
  /** Also when the caller was refused the tool. Absent: there is no such tool. */
  readonly definition?: ToolDefinition | undefined;
  readonly result: 'ok' | Code;
  /** Whether that speaks against the agent: not when the gate was busy, closed, or somebody ended the call. */
  readonly failed: boolean;
  /** Absent: it was no attempt to get at what the agent may not use. */
  readonly sign?: EscalationSign | undefined;
  readonly atMs: number;
  /** By a clock that nobody sets back. */
  readonly steadyMs: number;
}
