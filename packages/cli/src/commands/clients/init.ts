import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CreateSessionResponse, InJson } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { diffLines } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { Step } from '../../client/run-steps.ts';
import { quoteForShell } from '../../terminal/command-name.ts';
import { printTable } from '../../terminal/table.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { connectProject, readConnection, removeConnection } from './connection-file.ts';
import { addHooks, SettingsUnclear } from './edit-hooks.ts';
import { KeptSettings } from './kept-settings.ts';
import { listClients } from './known-clients.ts';
import type { KnownClient } from './known-clients.ts';
import { probeHook } from './probe-hook.ts';
import type { Probe } from './probe-hook.ts';

interface InitOptions {
  readonly client?: string;
  readonly undo?: boolean;
  readonly yes?: boolean;
}

interface Planned {
  readonly client: KnownClient;
  readonly before: string;
  readonly after: string;
}

interface Connected {
  readonly client: string;
  readonly file: string;
  readonly changed: boolean;
  readonly probe: Probe;
  readonly advice: string;
}

/** Puts the gate in front of the coding agents of this user, or takes it away again. */
export async function runInit(options: InitOptions, context: CommandContext): Promise<number> {
  const clients = chooseClients(options, context);
  return options.undo === true ? undoInit(clients, options, context) : connectClients(clients, options, context);
}

function chooseClients({ client, undo }: InitOptions, context: CommandContext): readonly KnownClient[] {
  const all = listClients(homedir(), process.env, hookCommand(context));
  if (client !== undefined) {
    const named = all.find(({ name }) => name === client);
    if (named === undefined) {
      throw usageFailure(`There is no client ${client}.`, `Known are ${all.map(({ name }) => name).join(' and ')}.`);
    }
    return [named];
  }
  const found = undo === true ? all : all.filter(({ isInstalled }) => isInstalled);
  if (found.length > 0) return found;
  const names = all.map(({ title }) => title).join(' and ');
  throw usageFailure(
    `None of the clients that are known here is installed: ${names}.`,
    'Name one with --client to connect it all the same.',
  );
}

/** By absolute paths: clients start their hooks with a PATH of their own. */
function hookCommand({ config }: CommandContext): string {
  const program = [process.execPath, process.argv[1] ?? ''].map(quoteForShell).join(' ');
  const usual = config.home.folder === join(homedir(), '.sallyport');
  return usual ? program : `SALLYPORT_HOME=${quoteForShell(config.home.folder)} ${program}`;
}

async function connectClients(
  clients: readonly KnownClient[],
  options: InitOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal, json, config } = context;
  const kept = new KeptSettings(config.home.folder);
  const planned = clients.map((client) => plan(client, kept));
  const changing = planned.filter(({ before, after }) => before !== after);
  if (!json) for (const each of changing) showChange(each, context);
  if (changing.length > 0) {
    await seekConsent('Change these files?', { yes: options.yes === true }, context);
  }
  return runSteps(context, async (step) => {
    const connected: Connected[] = [];
    for (const { client, before, after } of planned) {
      const root = await connectSession(client, step, context);
      if (before !== after) kept.replace(client.name, client.settingsFile, after);
      connected.push(await probe(client, before !== after, root, context));
    }
    if (json) terminal.print(visibleJson({ clients: connected }));
    else show(connected, context);
    return connected.every((each) => each.probe === 'live') ? exitCodes.success : exitCodes.toolError;
  });
}

function plan(client: KnownClient, kept: KeptSettings): Planned {
  const before = kept.read(client.settingsFile)?.toString() ?? '';
  try {
    return { client, before, after: addHooks(before, client.hooks) };
  } catch (error) {
    if (!(error instanceof SettingsUnclear)) throw error;
    throw usageFailure(
      `${client.settingsFile} cannot be edited: ${error.message}.`,
      'Correct it, then run this again. Nothing was changed.',
    );
  }
}

function showChange({ client, before, after }: Planned, { terminal }: CommandContext): void {
  terminal.print(terminal.paint('bold', `${client.title}: ${makeVisibleLine(client.settingsFile)}`));
  terminal.print(...diffLines(before, after, client.settingsFile).split('\n').map(makeVisibleLine));
}

/** A session of its own for each client and project, so that the log tells them apart. */
async function connectSession(client: KnownClient, step: Step, { config }: CommandContext): Promise<string> {
  const input = { agent: client.name, client_folder: config.startFolder };
  const { sessionId, token, workspace } = await step<InJson<CreateSessionResponse>>('sessions.create', input, 'agreed');
  const { folder } = config.home;
  const earlier = readConnection(folder, client.name).sessions.find(({ root }) => root === workspace);
  connectProject(folder, client.name, { root: workspace, sessionId, token });
  // It may have ended, or belong to a log that is gone.
  if (earlier !== undefined)
    await step('sessions.end', { session_id: earlier.sessionId }, 'agreed').catch(() => undefined);
  return workspace;
}

async function probe(
  client: KnownClient,
  changed: boolean,
  root: string,
  { config }: CommandContext,
): Promise<Connected> {
  const command = client.hooks['PreToolUse']?.hooks[0]?.command ?? '';
  const { probe: found, said } = await probeHook(command, root, join(config.home.folder, 'keys', 'audit.key'));
  const { name, settingsFile: file, afterwards = '' } = client;
  return { client: name, file, changed, probe: found, advice: found === 'live' ? afterwards : said };
}

function show(connected: readonly Connected[], { terminal, commandName }: CommandContext): void {
  printTable(
    terminal,
    ['CLIENT', 'HOOKS', 'SETTINGS', 'NEXT'],
    connected.map(({ client, probe: found, changed, advice }) => [
      client,
      found,
      changed ? 'changed' : 'as before',
      advice,
    ]),
  );
  terminal.print(
    '',
    `Sessions that are open in a client go on without hooks: start them anew. To take all of it back: ${commandName} init --undo`,
  );
}

async function undoInit(
  clients: readonly KnownClient[],
  options: InitOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal, json, config } = context;
  await seekConsent('Put the settings of the clients back as they were?', { yes: options.yes === true }, context);
  const kept = new KeptSettings(config.home.folder);
  return runSteps(context, async (step) => {
    const undone: { client: string; how: string; file: string }[] = [];
    for (const { name, settingsFile } of clients) {
      const { how, file = settingsFile } = kept.restore(name);
      undone.push({ client: name, how, file });
      for (const { sessionId } of readConnection(config.home.folder, name).sessions) {
        await step('sessions.end', { session_id: sessionId }, 'agreed').catch(() => undefined);
      }
      removeConnection(config.home.folder, name);
    }
    if (json) terminal.print(visibleJson({ clients: undone }));
    else for (const each of undone) terminal.print(spellUndone(each));
    return undone.some(({ how }) => how === 'changed') ? exitCodes.toolError : exitCodes.success;
  });
}

function spellUndone({ client, how, file }: { client: string; how: string; file: string }): string {
  const where = makeVisibleLine(file);
  if (how === 'restored') return `${client}: ${where} is as it was before.`;
  if (how === 'none') return `${client}: nothing had been changed.`;
  return `${client}: ${where} was changed by something else since, so it stays. Take the hooks with "hook ${client}" out of it by hand.`;
}
