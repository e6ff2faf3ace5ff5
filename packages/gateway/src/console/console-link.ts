import { ConsoleLinkSchema } from '@sallyport/contract';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import { defineOperatorTool } from '../registry/define-operator-tool.ts';
import type { LoginCodes } from './login-codes.ts';

export interface ConsoleLinkParts {
  readonly codes: LoginCodes;
  /** Where the console is served. */
  readonly address: () => string;
}

/** The way into the console: a link that works once, for the person who asked. */
export function consoleLink({ codes, address }: ConsoleLinkParts): AnyTool {
  return defineOperatorTool({
    name: 'console.link',
    description: 'Makes a link that opens the web console once, within a minute, as the person who asks.',
    mutates: true,
    answers: ConsoleLinkSchema,
    preview: () => ({ undoable: true }),
    run: (_args, { session }) => {
      // A browser that is logged in cannot log in others: links appear on terminals only.
      if (session.door !== undefined) {
        throw new ToolFailure('EXECUTION_ERROR', 'Links are made on a terminal.', {
          forOperators: 'Run `sallyport console` there.',
        });
      }
      const { code, expiresAtMs } = codes.issue(session.id, Date.now());
      // The fragment stays in the browser: no server, log or referrer sees it.
      return { link: `${address()}/#code=${code}`, expiresAtMs: String(expiresAtMs) };
    },
    summarize: () => 'made a link to the console',
  });
}
