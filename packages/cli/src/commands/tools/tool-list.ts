import type { CommandContext } from '../../command-context.ts';
import { renderTable } from '../../terminal/table.ts';
import type { Terminal, Tone } from '../../terminal/terminal.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { InJson, ToolDescriptor } from '@sallyport/contract';
import type { Given } from '../../command-table.ts';
import type { listOptions } from './tool-commands.ts';

export type ToolListOptions = Given<typeof listOptions>;

export async function listTools({ category, tag, origin }: ToolListOptions, context: CommandContext): Promise<number> {
  const { terminal } = context;
  const wanted = { ...(category && { category }), ...(tag && { tag }) };
  const { tools: listed, mode } = await context.openClient().call('ToolService/ListAvailableTools', wanted);
  const tools = listed.filter((tool) => origin === undefined || tool.origin === origin);
  if (context.json) {
    terminal.print(visibleJson({ tools, mode }));
    return 0;
  }
  if (tools.length === 0) {
    terminal.print(`There is no such tool in mode ${makeVisibleLine(mode)}.`);
    return 0;
  }
  terminal.print(...renderTools(tools, terminal));
  return 0;
}

const roomForOrigin = 100;

function renderTools(tools: readonly InJson<ToolDescriptor>[], { columns, paint }: Terminal): string[] {
  const withOrigin = (origin: string): string[] => (columns < roomForOrigin ? [] : [origin]);
  const rows = tools.map(({ name, risk, origin, status, statusReason, description }) =>
    // Why a tool cannot be called matters more than what it would do.
    [name, risk, ...withOrigin(origin), status, firstSentence(statusReason || description)].map(makeVisibleLine),
  );
  const head = ['NAME', 'RISK', ...withOrigin('ORIGIN'), 'STATUS', 'DESCRIPTION'];
  const [header = '', ...body] = renderTable([head, ...rows], columns);
  const tones = tools.map(({ status }) => toneOf(status));
  return [
    paint('dim', header),
    ...body.map((row, at) => {
      const tone = tones[at];
      return tone === undefined ? row : paint(tone, row);
    }),
  ];
}

/** Undefined: nothing to point out. */
function toneOf(status: string): Tone | undefined {
  if (status === 'ready') return undefined;
  return status === 'missing-binary' ? 'red' : 'yellow';
}

function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text)?.[0].slice(0, -1) ?? text;
}
