import { spellCount } from '@sallyport/contract';
import type { AcceptedTools, InJson, Upstream, UpstreamList } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { command, count, flag, withDefault, word } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { printTable, renderFields, renderTable } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { showForConsent } from '../tools/tool-accept.ts';
import { knownServers } from './known-servers.ts';
import type { KnownServer } from './known-servers.ts';
import { addCommand } from './upstream-add.ts';
import { showLogs } from './upstream-logs.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

const named = { name: word('name') };
const unasked = { yes: flag('do not ask') };

/** MCP servers behind the gate. */
export const upstreamCommands = [
  addCommand,
  command('catalogue', {
    help: 'list well-known servers that can be added by their names, and what they would get',
    run: (_, { terminal, json }) => {
      if (json) terminal.print(visibleJson({ servers: knownServers }));
      else terminal.print(...renderFields(knownServers.map(describeKnown), terminal.columns, ''));
      return exitCodes.success;
    },
  }),
  operatorCommand('list', {
    help: 'list the servers and their status',
    tool: 'upstreams.list',
    print: ({ upstreams, mistakes }: InJson<UpstreamList>, { terminal, commandName }) => {
      const rows = upstreams.map(({ name, kind, state, tools, pending, trouble }) => [
        ...[name, kind, state],
        pending === 0 ? spellCount(tools, 'tool') : `${spellCount(tools, 'tool')}, ${pending} to accept`,
        trouble.split('\n', 1)[0] ?? '',
      ]);
      if (rows.length > 0) printTable(terminal, ['UPSTREAM', 'KIND', 'STATE', 'TOOLS', ''], rows);
      else terminal.print('There is no upstream yet. Add one:', `  ${commandName} upstream add NAME -- COMMAND`);
      for (const { file, reason } of mistakes) {
        terminal.print(...wrapWords(`${makeVisibleLine(file)}: ${makeVisibleLine(reason)}`, terminal.columns));
      }
    },
  }),
  operatorCommand('show', {
    help: 'show one server, its tools and what has changed in them',
    arguments: named,
    tool: 'upstreams.show',
    print: printUpstream,
  }),
  operatorCommand('test', {
    help: 'connect to a server now and list its tools',
    arguments: named,
    tool: 'upstreams.test',
    print: printUpstream,
  }),
  command('logs', {
    help: 'show what a server of this machine wrote to standard error',
    arguments: named,
    options: {
      lines: withDefault(count('how many lines', 'n'), 50),
      follow: flag('keep showing new lines', { short: 'f' }),
    },
    run: showLogs,
  }),
  command('login', {
    help: 'log in at a server: prints a page to open, and waits until you have agreed there',
    arguments: named,
    run: loginUpstream,
  }),
  operatorCommand('logout', {
    help: 'forget the login at a server',
    arguments: named,
    options: unasked,
    tool: 'upstreams.logout',
    ask: ({ name }) => `Log out at the upstream ${makeVisibleLine(name)}?`,
    print: (_, { terminal }, { name }) =>
      terminal.print(
        `The login at ${makeVisibleLine(name)} is forgotten. To make it worthless there as well, revoke it at the server.`,
      ),
  }),
  command('accept', {
    help: "accept the tools of a server as they are now: all of them, or those of a name such as 'github.get_*'",
    arguments: named,
    options: unasked,
    run: acceptUpstream,
  }),
  operatorCommand('remove', {
    help: 'stop a server and remove it',
    arguments: named,
    options: unasked,
    tool: 'upstreams.remove',
    ask: ({ name }) => `Remove the upstream ${makeVisibleLine(name)}?`,
    print: (_, { terminal }, { name }) => terminal.print(`The upstream ${makeVisibleLine(name)} was removed.`),
  }),
];

function describeKnown({ name, about, npm, url, paths, hosts = [], secrets = [] }: KnownServer): [string, string] {
  const gets = [
    ...(paths === undefined ? [] : [`to ${paths === 'read' ? 'read' : 'change'} the folders named`]),
    ...[...hosts, ...secrets],
    ...(url === undefined ? [] : ['a login']),
  ];
  const what = gets.length === 0 ? 'nothing' : gets.join(', ');
  return [name, `${about}\n${npm ?? url ?? ''}\ngets: ${what}`];
}

/** Prints the page to open as soon as it is known, and ends when the person has agreed there. */
function loginUpstream({ name }: { readonly name: string }, context: CommandContext): Promise<number> {
  return runSteps(context, async (step) => {
    const shown = await step<InJson<Upstream>>('upstreams.login', { name }, 'agreed');
    const { terminal, json, commandName } = context;
    const visible = makeVisibleLine(name);
    if (json) terminal.print(visibleJson(shown));
    else {
      terminal.print(
        `${terminal.paint('green', 'Logged in')} at the upstream ${visible}. It has ${spellCount(shown.tools, 'tool')}.`,
      );
      if (shown.pending > 0) terminal.print(`Look at them and accept them: ${commandName} upstream accept ${visible}`);
    }
    return exitCodes.success;
  });
}

/** Shows what is new and what is different, asks, and from then on lets exactly that be called. */
function acceptUpstream(
  { name, ...options }: { readonly name: string } & ConsentOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal } = context;
  return runSteps(context, async (step) => {
    const [upstream = ''] = name.split('.', 1);
    const shown = await step<InJson<Upstream>>('upstreams.show', { name: upstream });
    const chosen = shown.toolList.filter(({ name: tool }) => upstream === name || matches(name, tool));
    if (chosen.length === 0 && upstream !== name) {
      throw usageFailure(`${makeVisibleLine(upstream)} has no tool ${makeVisibleLine(name)}.`);
    }
    const pending = chosen.filter((tool) => !tool.accepted && tool.definitionJson !== '');
    if (pending.length > 0) {
      for (const tool of pending) {
        await showForConsent(tool, context, { shows: 'differences' });
        if (!context.json) terminal.print('');
      }
      await seekConsent(
        `Accept ${pending.length === 1 ? 'this tool' : `these ${pending.length} tools`} as they are now?`,
        options,
        context,
      );
    }
    // By their names and one hash of everything that waits: what appears later under the same pattern is not accepted.
    const input = { name: upstream, tools: pending.map((tool) => tool.name), sha256: shown.pendingSha256 };
    const result = await step<InJson<AcceptedTools>>('upstreams.accept', input, 'agreed');
    if (context.json) terminal.print(visibleJson(result));
    else if (result.accepted.length === 0) terminal.print('Nothing waits to be accepted.');
    else terminal.print(...renderAccepted(result.accepted, terminal));
    return exitCodes.success;
  });
}

/** `*` stands for any part of a name. */
function matches(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('.*')}$`).test(name);
}

function renderAccepted(names: readonly string[], { columns, paint }: Terminal): string[] {
  const label = 'Accepted';
  const [first = '', ...more] = renderFields([[label, names.map(makeVisibleLine).join(', ')]], columns, '');
  return [first.replace(label, paint('green', label)), ...more];
}

function printUpstream(shown: InJson<Upstream>, { terminal }: CommandContext): void {
  const { columns, paint, print } = terminal;
  print(
    `${paint('bold', makeVisibleLine(shown.name))}  ${shown.kind}, ${shown.state}  ${makeVisibleLine(shown.server)}`,
  );
  if (shown.trouble !== '') {
    const [why = '', ...wrote] = shown.trouble.split('\n').map(makeVisibleLine);
    // What it wrote itself stays as it is.
    print(...wrapWords(why, columns), ...wrote);
  }
  if (shown.login !== undefined) {
    const { issuer, scopes, renewedAtMs } = shown.login;
    const login = `by ${issuer}, renewed ${formatTime(Number(renewedAtMs))}${scopes === '' ? '' : `, for ${scopes}`}`;
    print(...renderFields([['login', makeVisibleLine(login)]], columns, ''));
  }
  if (shown.loginUrl !== '') print('A login is in progress. Its page:', `  ${makeVisibleLine(shown.loginUrl)}`);
  const rows = shown.toolList.map(({ name, status, risk, description }) => [
    makeVisibleLine(name),
    status,
    risk,
    makeVisibleLine(description.split('\n', 1)[0] ?? ''),
  ]);
  if (rows.length > 0) print('', ...renderTable([['TOOL', 'STATUS', 'RISK', ''], ...rows], columns));
  for (const { file, reason } of shown.skipped) {
    print(...renderFields([['left out', `${makeVisibleLine(file)}: ${makeVisibleLine(reason)}`]], columns, ''));
  }
}
