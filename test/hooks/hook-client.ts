import assert from 'node:assert/strict';
import type { TestDaemon } from '../harness/daemon.ts';

export interface HookOutput {
  readonly permissionDecision: 'allow' | 'deny';
  readonly permissionDecisionReason: string;
  readonly updatedInput?: Readonly<Record<string, unknown>>;
}

/** A coding agent whose hooks speak to the gate, without a process for each. */
export class HookClient {
  readonly #daemon: TestDaemon;
  readonly token: string;
  readonly session: string;
  #uses = 0;

  constructor(daemon: TestDaemon, token: string, session = 'chat-1') {
    this.#daemon = daemon;
    this.token = token;
    this.session = session;
  }

  /** The hook before a use. Resolves to its answer; absent: the gate has no say. */
  async before(tool: string, input: object, more: object = {}): Promise<HookOutput> {
    const { hookSpecificOutput } = await this.#send('PreToolUse', tool, input, `use-${++this.#uses}`, more);
    return hookSpecificOutput as HookOutput;
  }

  /** The hooks before and, where it was let through, after a use. */
  async use(tool: string, input: object, more: object = {}): Promise<HookOutput> {
    const output = await this.before(tool, input, more);
    if (output.permissionDecision === 'allow') {
      await this.#send('PostToolUse', tool, input, `use-${this.#uses}`, { ...more, tool_response: { stdout: '' } });
    }
    return output;
  }

  async #send(event: string, tool: string, input: object, useId: string, more: object) {
    const payload = {
      session_id: this.session,
      transcript_path: '/dev/null',
      cwd: this.#daemon.place.workspace,
      permission_mode: 'default',
      hook_event_name: event,
      tool_name: tool,
      tool_input: input,
      tool_use_id: useId,
      ...more,
    };
    const { status, json } = await this.#daemon.post('v1/hooks/claude-code', payload, this.token);
    assert.equal(status, 200, JSON.stringify(json));
    return (json as { output?: { hookSpecificOutput?: unknown } }).output ?? {};
  }
}
