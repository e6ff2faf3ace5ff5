import { spellCount, UpstreamLogSchema } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { findUpstream, named } from './upstream-parts.ts';
import type { UpstreamToolParts } from './upstream-parts.ts';
import * as schema from '../../registry/schemas/schema.ts';

const longestWaitMs = 25_000;

/** What a server wrote to standard error. */
export function logTool(parts: UpstreamToolParts) {
  return defineOperatorTool({
    name: 'upstreams.logs',
    description: 'Shows the last lines that a server of this machine wrote to standard error, without secrets.',
    mutates: false,
    timeoutMs: longestWaitMs + 10_000,
    properties: {
      ...named.properties,
      lines: schema.integer('How many lines at most.', { minimum: 1, maximum: 1000, default: 50 }),
      after: schema.count('Only lines with a larger number.'),
      wait_ms: schema.integer('How long to wait for a line, if there is none yet.', {
        minimum: 0,
        maximum: longestWaitMs,
      }),
    },
    required: ['name'],
    answers: UpstreamLogSchema,
    run: async ({ name, lines, after = 0, wait_ms: waitMs = 0 }, { signal }) => {
      const { config } = findUpstream(parts, name);
      if (config.endpoint.kind !== 'stdio') {
        throw new ToolFailure('NOT_FOUND', `${name} runs elsewhere, so its log is there.`);
      }
      if (waitMs > 0) await parts.logs.wait(name, after, AbortSignal.any([signal, AbortSignal.timeout(waitMs)]));
      const found = await parts.logs.read(name, { after, most: lines });
      return { lines: found.map(({ number, atMs, text }) => ({ number, atMs: String(atMs), text })) };
    },
    summarize: ({ name }, output) => `read ${spellCount(output.lines.length, 'line')} of ${name}`,
  });
}
