import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { runSteps } from '../../client/run-steps.ts';
import { visibleJson } from '../../terminal/visible-text.ts';
import { writeOwnServer } from './edit-servers.ts';
import { connectSession } from './init.ts';
import { findClient } from './own-program.ts';

/** Opens the session of this project for a client, and prints what to put into its settings. No file of it is touched. */
export function showConnection(name: string, context: CommandContext): Promise<number> {
  const client = findClient(name, context);
  const { terminal, json } = context;
  return runSteps(context, async (step) => {
    const project = await connectSession(client, step, context);
    const { hooks, servers, afterwards, gaps } = client;
    const content = hooks?.content;
    const written =
      content === undefined
        ? undefined
        : 'all' in content
          ? content.all
          : JSON.stringify(
              { ...(content.version && { version: content.version }), hooks: content.hooks },
              undefined,
              2,
            );
    const parts = [
      { path: 'mcp', file: servers.file, text: writeOwnServer(servers) },
      ...(hooks === undefined || written === undefined ? [] : [{ path: 'hooks', file: hooks.file, text: written }]),
    ];
    if (json) terminal.print(visibleJson({ client: name, project, parts, gaps }));
    else {
      for (const { path, file, text } of parts) {
        terminal.print(terminal.paint('bold', `${path === 'mcp' ? 'MCP server' : 'Hooks'}, for ${file}:`), text, '');
      }
      terminal.print(...[afterwards ?? '', ...gaps].filter((line) => line !== ''));
    }
    return exitCodes.success;
  });
}
