import { spellCount } from '@sallyport/contract';
import type { AnyTool } from '../../call/tool.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import type { Check } from './check.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** `runChecks`: what `doctor` looks at too, from inside the daemon. */
export function selfCheck(runChecks: () => Promise<readonly Check[]> | readonly Check[]): AnyTool {
  return defineTool({
    name: 'self.check',
    aliases: ['self_check'],
    description:
      'Check whether the gate itself is well: its sandbox, its disk, its rules and its log. Operators also read what was found and what to do.',
    tags: ['self'],
    risk: 'low',
    timeoutMs: 30_000,
    inputSchema: schema.object({}),
    outputSchema: schema.object({
      ok: schema.boolean('Whether nothing failed.'),
      checks: schema.array(
        'What was looked at.',
        schema.object(
          {
            name: schema.string('What was looked at.'),
            state: schema.choice('warn: it works, and somebody should look at it. fail: something does not work.', [
              'ok',
              'warn',
              'fail',
            ]),
            message: schema.string('What was found. Absent: the caller is not an operator.'),
            remedy: schema.string('What to do. Absent: nothing, or the caller is not an operator.'),
          },
          { optional: ['message', 'remedy'] },
        ),
      ),
    }),
    preview: () => looksAt('Check the gate'),
    run: async (_, { session, redact }) => {
      const found = await runChecks();
      // What was found names files and commands of operators.
      const isOperator = session.principal === 'operator';
      const checks = found.map(({ name, state, message, remedy }) => ({
        name,
        state,
        ...(isOperator ? { message: redact(message) } : {}),
        ...(isOperator && remedy !== undefined ? { remedy: redact(remedy) } : {}),
      }));
      return { ok: found.every(({ state }) => state !== 'fail'), checks };
    },
    summarize: (_, { checks }) => {
      const failed = checks.filter(({ state }) => state === 'fail').length;
      return `${spellCount(checks.length, 'check')}, ${failed} failed`;
    },
  });
}
