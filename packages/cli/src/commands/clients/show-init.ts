import { diffLines, Redactor } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import { printTable, renderWrappedTable } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';
import { readableFiles } from './import-servers.ts';
import type { ConnectedClient } from './init.ts';
import type { ClientPlan } from './plan-client.ts';
import type { Import, ServerPlan } from './plan-import.ts';

/** What would change in each file, without the tokens in it, and what becomes of each server. */
export function showPlan(plans: readonly ClientPlan[], context: CommandContext): void {
  const { terminal } = context;
  const changed: string[] = [];
  for (const { client, files, servers, shared } of plans) {
    const redactor = new Redactor(
      servers.flatMap((plan) => (plan.how === 'import' ? Object.values(plan.secrets) : [])),
    );
    for (const { file, before, edit } of files) {
      const after = edit(before);
      if (before === after) continue;
      changed.push(file);
      terminal.print(terminal.paint('bold', `${client.title}: ${makeVisibleLine(file)}`));
      const diff = redactor.redactText(diffLines(before, after, file));
      terminal.print(...diff.split('\n').map((line) => paintLine(makeVisibleLine(line), terminal)));
    }
    for (const line of servers.map(spellServer)) terminal.print(...wrapWords(makeVisibleLine(line), terminal.columns));
    for (const { server, file } of shared) {
      const line = `MCP server ${server} stays: it is in ${file}, which others share.`;
      terminal.print(...wrapWords(makeVisibleLine(line), terminal.columns));
    }
  }
  // The differences of many clients are longer than a screen, and the question comes after them.
  if (changed.length > 1) {
    terminal.print('', terminal.paint('bold', `${changed.length} files change:`));
    terminal.print(...changed.map((file) => `  ${makeVisibleLine(file)}`));
  }
}

function paintLine(line: string, { paint }: CommandContext['terminal']): string {
  if (/^\+(?!\+\+ )/.test(line)) return paint('green', line);
  return /^-(?!-- )/.test(line) ? paint('red', line) : line;
}

function spellServer(plan: ServerPlan): string {
  if (plan.how === 'stay') return `MCP server ${plan.server} stays in the client: ${plan.why.replace(/\.$/, '')}.`;
  const { server, name } = plan;
  return `MCP server ${server} becomes the upstream ${name}: ${spellSource(plan)}. Its tools can be called once you have accepted them.`;
}

function spellSource({ input, package: launched, secrets }: Import): string {
  const { read = [] } = readableFiles(input);
  const parts = [
    launched === undefined
      ? 'url' in input
        ? String(input['url'])
        : (input['command'] as readonly string[]).join(' ')
      : `the npm package ${launched.spec}, fetched once and pinned`,
    ...('url' in input ? [] : ['in the sandbox']),
    ...(read.length === 0 ? [] : [`may read ${read.join(', ')}`]),
    ...(Object.keys(secrets).length === 0 ? [] : [`secrets moved into the gate: ${Object.keys(secrets).join(', ')}`]),
  ];
  return parts.join('; ');
}

export function showConnected(connected: readonly ConnectedClient[], { terminal, commandName }: CommandContext): void {
  printTable(
    terminal,
    ['CLIENT', 'PATH', 'STATE', 'SETTINGS', 'NEXT'],
    connected.flatMap(({ paths }) =>
      paths.map(({ client, path, state, changed, advice }) => [
        ...[client, path, state, changed ? 'changed' : 'as before'],
        makeVisibleLine(advice),
      ]),
    ),
    renderWrappedTable,
  );
  const servers = connected.flatMap(({ client, servers: each }) => each.map((server) => ({ client, ...server })));
  if (servers.length > 0) {
    terminal.print('');
    printTable(
      terminal,
      ['CLIENT', 'MCP SERVER', 'NOW', 'NEXT'],
      servers.map(({ client, server, upstream, why = '' }) => [
        ...[client, makeVisibleLine(server)],
        upstream === undefined ? 'stays' : `upstream ${upstream}`,
        upstream === undefined ? makeVisibleLine(why) : `${commandName} upstream accept ${upstream}`,
      ]),
      renderWrappedTable,
    );
  }
  terminal.print('', ...wrapWords('Open sessions of a client continue without hooks: restart them.', terminal.columns));
  terminal.print(`To take all of it back: ${commandName} init --undo`);
}
