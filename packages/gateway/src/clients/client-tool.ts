import { makeVisibleLine } from '@sallyport/contract';
import type { AnyTool } from '../call/tool.ts';
import * as schema from '../registry/schemas/schema.ts';
import { parsePath } from '../paths/parse-path.ts';
import { defineTool } from '../catalogue/define-tool.ts';
import { runByClient } from './run-by-client.ts';

/** An edit that our own tools do not make: several passages, several files. */
export function clientEdit(): AnyTool {
  return runByClient(
    defineTool({
      name: 'client.edit',
      aliases: [],
      description: 'An edit of files that a coding agent makes by itself.',
      tags: ['client', 'files'],
      risk: 'medium',
      mutates: true,
      scopes: ['paths'],
      timeoutMs: 3_600_000,
      inputSchema: schema.object({
        paths: { type: 'array', minItems: 1, maxItems: 1000, items: { type: 'string', minLength: 1, maxLength: 4096 } },
        input: { type: 'object', description: 'As the client gives it.' },
      }),
      outputSchema: { type: 'object' },
      claim: ({ paths }, session) => ({
        paths: paths.map((path) => ({ path: parsePath(path, session.workingDirectory).path, access: 'write' })),
      }),
      preview: ({ paths, input }) => ({
        summary: makeVisibleLine(`Change ${paths.join(', ')}`),
        detail: `${JSON.stringify(input, undefined, 2)}\n`,
        undoable: true,
      }),
      run: runsElsewhere,
      summarize: () => '',
    }),
  );
}

/** Every other tool of a client, such as those of its own MCP servers: rules tell them apart by `arguments`. */
export function clientTool(): AnyTool {
  return runByClient(
    defineTool({
      name: 'client.tool',
      aliases: [],
      description:
        'A tool of a coding agent that the gate does not have: a subagent, a list of things to do, another MCP server.',
      tags: ['client'],
      risk: 'medium',
      mutates: true,
      timeoutMs: 3_600_000,
      inputSchema: schema.object({
        tool: { type: 'string', minLength: 1, maxLength: 256, description: 'As the client names it.' },
        input: { type: 'object', description: 'As the client gives it.' },
      }),
      outputSchema: { type: 'object' },
      preview: ({ tool, input }) => ({
        summary: makeVisibleLine(`Use ${tool} of the client`),
        detail: `${JSON.stringify(input, undefined, 2)}\n`,
        undoable: false,
      }),
      run: runsElsewhere,
      summarize: () => '',
    }),
  );
}

function runsElsewhere(): never {
  throw new Error('The client runs it.');
}
