import { hash } from 'node:crypto';
import type { LoopMemory } from '../governance/loop-memory.ts';
import type { Closer } from '../pipeline/stage.ts';
import type { CallFacts } from './facts.ts';

/** Tells the loop gate what came out, so that it can see a call that changes nothing. */
export function noteResult(memory: LoopMemory): Closer<CallFacts> {
  return {
    name: 'note-result',
    required: false,
    run: async (ending, context) => {
      if (ending.kind !== 'completed') return;
      const { session, tool, outcome } = ending.call;
      const result = outcome.ok
        ? (outcome.kept?.hash ?? outcome.outputJson)
        : `${outcome.failure.code} ${outcome.failure.message}`;
      memory.noteResult(
        session.agent,
        tool.definition.name,
        ending.call.arguments.sha256,
        hash('sha256', result),
        context.nowMs(),
      );
    },
  };
}
