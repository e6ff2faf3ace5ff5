import type { CommandContext } from './command-context.ts';
import { renderTable } from './table.ts';
import { toolToJson } from './tool-json.ts';
import { makeVisibleLine, visibleJson } from './visible-text.ts';

export interface ToolListOptions {
  readonly category?: string;
  readonly tag?: string;
}

export async function listTools(options: ToolListOptions, context: CommandContext): Promise<number> {
  const { terminal } = context;
  const { tools = [], mode = '' } = await context.openClient().listTools(options);
  if (context.json) {
    terminal.print(visibleJson({ tools: tools.map(toolToJson), mode }));
    return 0;
  }
  if (tools.length === 0) {
    terminal.print(`No tool may be called in mode ${makeVisibleLine(mode)}.`);
    return 0;
  }
  const rows = tools.map(({ name = '', risk = '', status = '', description = '' }) =>
    [name, risk, status, firstSentence(description)].map(makeVisibleLine),
  );
  const [header = '', ...body] = renderTable([['NAME', 'RISK', 'STATUS', 'DESCRIPTION'], ...rows], terminal.columns);
  terminal.print(terminal.paint('dim', header), ...body);
  return 0;
}

function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text)?.[0].slice(0, -1) ?? text;
}
