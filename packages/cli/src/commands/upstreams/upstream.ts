import { spellCount } from '@sallyport/contract';
import type { AcceptedTools, InJson, Upstream, UpstreamList } from '@sallyport/contract';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { renderFields, renderTable } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { showForConsent } from '../tools/tool-accept.ts';
import { layOutLogin } from './upstream-login.ts';
import type { LoginOptions } from './upstream-login.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

export interface UpstreamAddOptions extends LoginOptions {
  readonly url?: string;
  readonly bearerSecret?: string;
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly hosts?: readonly string[];
  readonly unixSockets?: boolean;
  readonly environment?: readonly string[];
  readonly secrets?: readonly string[];
  readonly mayAsk?: readonly string[];
}

export function addUpstream(
  name: string,
  command: readonly string[],
  {
    environment,
    bearerSecret,
    yes,
    url,
    read,
    write,
    hosts,
    secrets,
    unixSockets,
    mayAsk,
    ...login
  }: UpstreamAddOptions & ConsentOptions,
  context: CommandContext,
): Promise<number> {
  const oauth = layOutLogin(login);
  const given = { url, read, write, hosts, secrets, oauth, unix_sockets: unixSockets, may_ask: mayAsk };
  const input = {
    name,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(command.length === 0 ? {} : { command }),
    ...(bearerSecret === undefined ? {} : { bearer_secret: bearerSecret }),
    ...(environment === undefined ? {} : { environment: Object.fromEntries(environment.map(splitPair)) }),
  };
  for (const word of command.slice(1)) refuseRelative(word);
  return runSteps(context, async (step) => {
    const { terminal, json, commandName } = context;
    if (!json) terminal.print(...renderFields(describeInput(input), terminal.columns, ''));
    await seekConsent('Add this upstream?', { ...(yes === undefined ? {} : { yes }) }, context);
    const added = await step('upstreams.add', input, 'agreed');
    const shown = makeVisibleLine(name);
    if (json) terminal.print(visibleJson(added));
    else {
      terminal.print(
        ...wrapWords(
          `The upstream ${shown} is added. Its tools can be called once they are accepted and a rule allows them:`,
          terminal.columns,
        ),
        `  ${commandName} upstream test ${shown}`,
        `  ${commandName} upstream accept ${shown}`,
      );
    }
    return exitCodes.success;
  });
}

export function listUpstreams(context: CommandContext): Promise<number> {
  return runOperatorTool('upstreams.list', {}, context, ({ upstreams, mistakes }: InJson<UpstreamList>) => {
    const { columns, paint, print } = context.terminal;
    if (upstreams.length === 0)
      print('There is no upstream yet. Add one:', `  ${context.commandName} upstream add NAME -- COMMAND`);
    else {
      const rows = upstreams.map(({ name, kind, state, tools, pending, trouble }) => [
        makeVisibleLine(name),
        kind,
        state,
        pending === 0 ? spellCount(tools, 'tool') : `${spellCount(tools, 'tool')}, ${pending} to accept`,
        makeVisibleLine(trouble.split('\n', 1)[0] ?? ''),
      ]);
      const [header = '', ...body] = renderTable([['UPSTREAM', 'KIND', 'STATE', 'TOOLS', ''], ...rows], columns);
      print(paint('dim', header.trimEnd()), ...body);
    }
    for (const { file, reason } of mistakes) {
      print(...wrapWords(`${makeVisibleLine(file)}: ${makeVisibleLine(reason)}`, columns));
    }
  });
}

export function showUpstream(name: string, context: CommandContext): Promise<number> {
  return runOperatorTool('upstreams.show', { name }, context, (shown: InJson<Upstream>) =>
    printUpstream(shown, context),
  );
}

export function testUpstream(name: string, context: CommandContext): Promise<number> {
  return runOperatorTool('upstreams.test', { name }, context, (shown: InJson<Upstream>) =>
    printUpstream(shown, context),
  );
}

/** Shows what is new and what is different, asks, and from then on lets exactly that be called. */
export function acceptUpstream(name: string, options: ConsentOptions, context: CommandContext): Promise<number> {
  const { terminal } = context;
  return runSteps(context, async (step) => {
    const shown = await step<InJson<Upstream>>('upstreams.show', { name: name.split('.', 1)[0] });
    const pending = shown.toolList.filter((tool) => !tool.accepted && (!name.includes('.') || tool.name === name));
    if (pending.length > 0) {
      for (const tool of pending) {
        await showForConsent(tool, context);
        if (!context.json) terminal.print('');
      }
      await seekConsent(
        `Accept ${pending.length === 1 ? 'this tool' : `these ${pending.length} tools`} as they are now?`,
        options,
        context,
      );
    }
    const input = { name, sha256: shown.pendingSha256 };
    const result = await step<InJson<AcceptedTools>>('upstreams.accept', input, 'agreed');
    if (context.json) terminal.print(visibleJson(result));
    else if (result.accepted.length === 0) terminal.print('Nothing waits to be accepted.');
    else terminal.print(...renderAccepted(result.accepted, terminal));
    return exitCodes.success;
  });
}

export function removeUpstream(name: string, options: ConsentOptions, context: CommandContext): Promise<number> {
  return runSteps(context, async (step) => {
    await seekConsent(`Remove the upstream ${makeVisibleLine(name)}?`, options, context);
    const removed = await step('upstreams.remove', { name }, 'agreed');
    context.terminal.print(context.json ? visibleJson(removed) : `The upstream ${makeVisibleLine(name)} was removed.`);
    return exitCodes.success;
  });
}

/** One field a part, so that a person sees what the server gets. */
function describeInput(input: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(input).map(([key, value]) => [
    `${key}:`,
    makeVisibleLine(Array.isArray(value) ? value.join(' ') : typeof value === 'string' ? value : JSON.stringify(value)),
  ]);
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

/** The server starts elsewhere: a file that the person sees in this folder would not be found. */
function refuseRelative(word: string): void {
  if (word.startsWith('/') || word.startsWith('-')) return;
  const path = resolve(word);
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind === undefined || !(kind.isFile() || word.includes('/') || /^\.{1,2}$/.test(word))) return;
  throw usageFailure(
    `The server does not start in this folder, so it would not find ${word}: relative paths do not work.`,
    `Give the whole path, ${path}, and let the server see it with --read ${path}`,
  );
}

function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw usageFailure(`Not a variable: ${pair}`, 'Give it as NAME=value.');
  return [pair.slice(0, at), pair.slice(at + 1)];
}
