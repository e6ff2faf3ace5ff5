import { spellCount } from '@sallyport/contract';
import type { AnyTool } from '../../call/tool.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import { objectSchema } from '../files/define-file-tool.ts';
import type { Check } from './check.ts';

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
    inputSchema: objectSchema({}),
    outputSchema: objectSchema({
      ok: { type: 'boolean', description: 'Whether nothing failed.' },
      checks: {
        type: 'array',
        description: 'What was looked at.',
        items: objectSchema(
          {
            name: { type: 'string', description: 'What was looked at.' },
            state: {
              type: 'string',
              enum: ['ok', 'warn', 'fail'],
              description: 'warn: it works, and somebody should look at it. fail: something does not work.',
            },
            message: { type: 'string', description: 'What was found. Absent: the caller is not an operator.' },
            remedy: { type: 'string', description: 'What to do. Absent: nothing, or the caller is not an operator.' },
          },
          { optional: ['message', 'remedy'] },
        ),
      },
    }),
    preview: () => looksAt('Check the gate'),
    run: async (_: object, { session, redact }) => {
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
