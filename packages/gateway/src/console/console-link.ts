import { ToolFailure } from '../call/tool.ts';
import type { AnyTool, Tool } from '../call/tool.ts';
import { defineAdministration } from '../registry/administration.ts';
import type { LoginCodes } from './login-codes.ts';

export interface ConsoleLinkParts {
  readonly codes: LoginCodes;
  /** Where the console is served. */
  readonly address: () => string;
}

/** The way into the console: a link that works once, for the person who asked. */
export function consoleLink({ codes, address }: ConsoleLinkParts): AnyTool {
  const tool: Tool<Record<string, never>> = {
    definition: defineAdministration({
      name: 'console.link',
      description: 'Makes a link that opens the web console once, within a minute, as the person who asks.',
      mutates: true,
      idempotent: false,
      inputSchema: { type: 'object', additionalProperties: false, properties: {} },
      outputSchema: {
        type: 'object',
        required: ['link', 'expires_at'],
        properties: { link: { type: 'string' }, expires_at: { type: 'string' } },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: 'Make a link to the console.', detail: '', undoable: true }),
    run: (_args, { session }) => {
      // A browser that is logged in cannot log in others: links appear on terminals only.
      if (session.door !== undefined) {
        throw new ToolFailure('EXECUTION_ERROR', 'Links are made on a terminal.', {
          forOperators: 'Run `sallyport console` there.',
        });
      }
      const { code, expiresAtMs } = codes.issue(session.id, Date.now());
      // The fragment stays in the browser: no server, log or referrer sees it.
      return Promise.resolve({
        link: `${address()}/#code=${code}`,
        expires_at: new Date(expiresAtMs).toISOString(),
      });
    },
    summarize: () => 'made a link to the console',
  };
  return tool as unknown as AnyTool;
}
