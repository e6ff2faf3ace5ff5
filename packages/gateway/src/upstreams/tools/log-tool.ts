import { spellCount, UpstreamLogSchema } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { findUpstream, named } from './upstream-parts.ts';
import type { Named, UpstreamToolParts } from './upstream-parts.ts';

interface LogArguments extends Named {
  readonly lines?: number;
  readonly after?: number;
  readonly wait_ms?: number;
}

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
      lines: { type: 'integer', minimum: 1, maximum: 1000, default: 50, description: 'How many lines at most.' },
      after: { type: 'integer', minimum: 0, description: 'Only lines with a larger number.' },
      wait_ms: {
        type: 'integer',
        minimum: 0,
        maximum: longestWaitMs,
        description: 'How long to wait for a line, if there is none yet.',
      },
    },
    required: ['name'],
    answers: UpstreamLogSchema,
    run: async ({ name, lines = 50, after = 0, wait_ms: waitMs = 0 }: LogArguments, { signal }) => {
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
