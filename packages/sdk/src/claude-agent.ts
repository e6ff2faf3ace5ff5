import { openHooks } from './gate-hooks.ts';
import type { HookOptions, HookReply, TellGate } from './gate-hooks.ts';

export type { HookOptions } from './gate-hooks.ts';

/** What Claude Code says about a use of a tool: the same as to hooks that are programs. */
interface HookInput {
  readonly hook_event_name: string;
}

type HookCallback = (
  input: HookInput,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => Promise<Record<string, unknown>>;

interface HookMatcher {
  readonly hooks: HookCallback[];
  /** Seconds. */
  readonly timeout: number;
}

/** Events after which something is over. */
const told = ['PostToolUse', 'PostToolUseFailure', 'Stop', 'SubagentStop', 'SessionEnd'] as const;

export type GateHooks = Readonly<Record<'PreToolUse' | (typeof told)[number], HookMatcher[]>>;

/** More than the gate itself waits for a person. */
const patienceSeconds = 600;

/**
 * Hooks for agents of the Claude Agent SDK: `query({ prompt, options: { hooks: gateHooks() } })`. The rules
 * judge each use of a tool first, including tools of Claude Code and of MCP servers. The use waits if a person must
 * agree, and its outcome is recorded. A refusal tells the model why, and what it may do instead. Without the gate
 * nothing runs.
 */
export function gateHooks(options: HookOptions = {}): GateHooks {
  const tell = openHooks('claude-code', options);
  const before: HookMatcher = {
    timeout: patienceSeconds,
    hooks: [(input, _, { signal }) => decide(tell, input, signal)],
  };
  const after: HookMatcher = {
    timeout: patienceSeconds,
    hooks: [
      async (input) => {
        // The use is over. If the gate cannot be told, the record says that the outcome is unknown.
        await tell(input).catch(() => undefined);
        return {};
      },
    ],
  };
  const rest = Object.fromEntries(told.map((event) => [event, [after]])) as Record<
    (typeof told)[number],
    HookMatcher[]
  >;
  return { PreToolUse: [before], ...rest };
}

async function decide(tell: TellGate, input: HookInput, signal: AbortSignal): Promise<Record<string, unknown>> {
  let reply: HookReply;
  try {
    reply = await tell(input, signal);
  } catch (error) {
    return deny(`Sallyport could not be asked, so the tool did not run: ${(error as Error).message}`);
  }
  if (reply.exitCode !== 0) return deny(reply.message ?? 'Sallyport did not allow it.');
  // Without an output the gate decides nothing here: its own tools are judged where they are called.
  return { ...reply.output };
}

function deny(reason: string): Record<string, unknown> {
  const decision = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason };
  return { hookSpecificOutput: decision };
}
