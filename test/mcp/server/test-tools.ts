import { once } from 'node:events';
import { modes } from '../../../packages/gateway/src/call/session.ts';
import type { AnyTool, ToolDefinition } from '../../../packages/gateway/src/call/tool.ts';

export type TestTool = Pick<AnyTool, 'run'> & { readonly name: string } & Partial<Omit<ToolDefinition, 'name'>>;

/** A tool that touches nothing, as far as the gate can tell. */
export function defineTestTool({ run, ...definition }: TestTool): AnyTool {
  return {
    definition: {
      aliases: [],
      version: '1.0.0',
      description: `The tool ${definition.name}.`,
      tags: [],
      category: 'test',
      inputSchema: { type: 'object' },
      outputSchema: {},
      risk: 'low',
      confirmation: 'never',
      mutates: false,
      scopes: [],
      allowedModes: modes,
      requiresApproval: false,
      requiresSandbox: false,
      timeoutMs: 60_000,
      idempotent: true,
      audience: 'everyone',
      ...definition,
    },
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: `Run ${definition.name}.`, detail: '', undoable: false }),
    run,
    summarize: () => 'done',
  };
}

/** A tool that runs until it is cancelled, and what became of it. */
export function endlessTool(name = 'test.endless'): {
  readonly tool: AnyTool;
  readonly begun: Promise<void>;
  readonly cancelled: Promise<void>;
} {
  const begun = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const tool = defineTestTool({
    name,
    run: async (_, { signal }) => {
      begun.resolve();
      await once(signal, 'abort');
      cancelled.resolve();
      return {};
    },
  });
  return { tool, begun: begun.promise, cancelled: cancelled.promise };
}
