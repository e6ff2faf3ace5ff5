import type { CommandContext } from '../../command-context.ts';
import { completeId } from '../../terminal/short-id.ts';
import { visibleJson } from '../../terminal/visible-text.ts';
import type { Given } from '../../command-table.ts';
import type { exportOptions } from './tool-commands.ts';

export type ToolExportOptions = Given<typeof exportOptions>;

/** Prints the tools of a session as a model takes them; with --json also which tool each of their names means. */
export async function exportTools({ format, session }: ToolExportOptions, context: CommandContext): Promise<number> {
  const client = context.openClient();
  const sessionId = session === undefined ? '' : await completeId('session_id', session, context);
  const { toolsJson, names } = await client.call('ToolService/ExportTools', { format, sessionId });
  const tools = JSON.parse(toolsJson) as unknown[];
  const meanings = Object.fromEntries(names.map(({ exported, name }) => [exported, name]));
  context.terminal.print(visibleJson(context.json ? { tools, names: meanings } : tools));
  return 0;
}
