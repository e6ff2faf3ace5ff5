// An agent of the Claude Agent SDK whose tools stand behind the gate: one option more than without it.
// Needs SALLYPORT_TOKEN, which `sallyport session create` prints.
import { query } from '@anthropic-ai/claude-agent-sdk';
import { gateHooks } from '@sallyport/sdk/claude-agent';

/** `options` go to the SDK; `gate` says how to reach the gate. */
export async function answer(prompt, options = {}, gate = {}) {
  let result = '';
  for await (const message of query({ prompt, options: { ...options, hooks: gateHooks(gate) } })) {
    if (message.type === 'result') result = message.result ?? '';
  }
  return result;
}
