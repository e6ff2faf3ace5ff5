import { homedir } from 'node:os';
import type { ClientPath, InJson, ShowCoverageResponse } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { runSteps } from '../../client/run-steps.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { printTable, renderWrappedTable } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { findProject, readConnection } from './connection-file.ts';
import { hasHooks } from './edit-hooks.ts';
import { probePaths } from './init.ts';
import { KeptSettings } from './kept-settings.ts';
import type { KnownClient } from './known-clients.ts';
import { findClient, findClients } from './own-program.ts';
import { hasOwnServer } from './plan-client.ts';
import { readTranscripts } from './transcripts/read-transcripts.ts';
import type { ToldUse } from './transcripts/told-use.ts';

const mostShown = 20;

/** Shows which clients come through the gate, and what went around it. */
export function showCoverage(
  { client: names }: { readonly client?: readonly string[] },
  context: CommandContext,
): Promise<number> {
  const clients =
    names === undefined
      ? findClients(context).filter(isOfInterest(context))
      : [...new Set(names)].map((name) => findClient(name, context));
  return runSteps(context, async (step) => {
    const looked = [];
    for (const client of clients) looked.push(await lookAt(client, context));
    const uses = looked.flatMap(({ client, told }) => told.map((use) => describeUse(client, use)));
    const input = { paths: looked.flatMap(({ paths }) => paths), uses: uses.slice(0, 10_000) };
    const report = await step<InJson<ShowCoverageResponse>>('clients.coverage', input);
    if (context.json) context.terminal.print(visibleJson(report));
    else show(report, clients, context);
    const isWhole =
      report.paths.every(({ state }) => state === 'live') && report.around.every(({ blocked }) => blocked);
    return isWhole ? exitCodes.success : exitCodes.toolError;
  });
}

function isOfInterest({ config }: CommandContext) {
  return ({ name, isInstalled }: KnownClient): boolean =>
    isInstalled || readConnection(config.home.folder, name).sessions.length > 0;
}

interface LookedAt {
  readonly client: KnownClient;
  readonly paths: readonly Omit<InJson<ClientPath>, 'lastSeenAtMs'>[];
  readonly told: readonly ToldUse[];
}

/** At its settings and transcripts, and through each path that is set up once, with a use that must be denied. */
async function lookAt(client: KnownClient, context: CommandContext): Promise<LookedAt> {
  const { config, commandName } = context;
  const connection = readConnection(config.home.folder, client.name);
  const since = connection.sessions.map(({ connectedAtMs = 0 }) => connectedAtMs);
  const told = since.length === 0 ? [] : readTranscripts(client.name, homedir(), process.env, Math.min(...since));
  const version = client.version ?? told.find((use) => use.version)?.version ?? '';
  const project = findProject(connection, config.startFolder);
  const connect = `${commandName} init --client ${client.name}`;
  const missing = (path: string) => ({ client: client.name, path, state: 'not connected', version, fix: connect });
  if (project === undefined) {
    return { client, told, paths: [...(client.hooks ? [missing('hooks')] : []), missing('mcp')] };
  }
  const isThere = { hooks: hasItsHooks(client), mcp: hasItsServer(client) };
  const probed = await probePaths(client, new Set(), project.root, context);
  const paths = probed.map(({ path, state, advice }) =>
    isThere[path] ? { client: client.name, path, state, version, fix: state === 'live' ? '' : advice } : missing(path),
  );
  return { client, told, paths };
}

const settings = new KeptSettings('/');
const readText = (file: string): string => settings.read(file)?.toString() ?? '';

function hasItsHooks({ hooks }: KnownClient): boolean {
  if (hooks === undefined) return false;
  const text = readText(hooks.file);
  return 'all' in hooks.content ? text === hooks.content.all : hasHooks(text, hooks.content);
}

function hasItsServer(client: KnownClient): boolean {
  return hasOwnServer(client, readText(client.servers.file));
}

function describeUse({ name, gaps }: KnownClient, { version: _version, ...use }: ToldUse) {
  const { useId, atMs, ...rest } = use;
  return { client: name, ...rest, use_id: useId, at_ms: atMs, fix: fixFor(name, gaps) };
}

function fixFor(name: string, gaps: readonly string[]): string {
  return `sallyport init --client ${name}, then restart it. ${gaps[0] ?? ''}`.trim();
}

function show(
  { paths, around, compared }: InJson<ShowCoverageResponse>,
  clients: readonly KnownClient[],
  { terminal }: CommandContext,
): void {
  const say = (line: string): void => terminal.print(...wrapWords(makeVisibleLine(line), terminal.columns));
  printTable(
    terminal,
    ['CLIENT', 'PATH', 'STATE', 'LAST SEEN', 'VERSION', 'NEXT'],
    paths.map(({ client, path, state, lastSeenAtMs, version, fix }) => [
      ...[client, path, state, lastSeenAtMs === undefined ? 'never' : formatTime(Number(lastSeenAtMs))],
      ...[makeVisibleLine(version), makeVisibleLine(fix)],
    ]),
    renderWrappedTable,
  );
  terminal.print('');
  const passed = around.filter(({ blocked }) => !blocked);
  const spelled = `${compared} uses of tools`;
  if (compared === 0) say('No transcript of these clients has a use of a tool in it yet.');
  else if (passed.length === 0) say(`All ${spelled} in the transcripts passed the gate.`);
  else say(`${passed.length} of ${spelled} in the transcripts went around the gate:`);
  if (passed.length > 0) {
    printTable(
      terminal,
      ['TIME', 'CLIENT', 'TOOL', 'WHAT', 'FIX'],
      passed
        .slice(0, mostShown)
        .map(({ atMs, client, tool, what, fix }) => [
          ...[formatTime(Number(atMs)), client],
          ...[tool, what.slice(0, 60), fix].map(makeVisibleLine),
        ]),
    );
  }
  if (around.length > passed.length) {
    say(
      `${around.length - passed.length} more were blocked by the hook alone while the gate did not run, as the transcripts say.`,
    );
  }
  terminal.print('', 'What the gate does not see in these clients:');
  for (const { title, gaps } of clients) for (const gap of gaps) say(`- ${title}: ${gap}`);
}
