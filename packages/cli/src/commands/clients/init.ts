import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { CreateSessionResponse, InJson, SecretList, UpstreamList } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { Step } from '../../client/run-steps.ts';
import { visibleJson } from '../../terminal/visible-text.ts';
import { connectProject, readConnection } from './connection-file.ts';
import { askTrust, findTrust } from './codex-trust.ts';
import { writeOwnServer } from './edit-servers.ts';
import { importServers } from './import-servers.ts';
import type { ImportedServer } from './import-servers.ts';
import { holdInitLock } from './init-lock.ts';
import { KeptSettings } from './kept-settings.ts';
import type { KnownClient } from './known-clients.ts';
import { runManaged } from './managed.ts';
import { findClient, findClients, findOwnProgram } from './own-program.ts';
import { planClient, withTrust } from './plan-client.ts';
import type { ClientPlan } from './plan-client.ts';
import { probeHook } from './probe-hook.ts';
import type { Probed } from './probe-hook.ts';
import { probeServer } from './probe-server.ts';
import { showConnected, showPlan } from './show-init.ts';
import { undoInit } from './undo-init.ts';

export interface InitOptions {
  /** Absent: all that are installed. */
  readonly client?: readonly string[];
  readonly undo?: boolean;
  readonly managed?: boolean;
  readonly yes?: boolean;
}

/** How a client reaches the gate now. */
export interface ConnectedPath {
  readonly client: string;
  readonly path: 'hooks' | 'mcp';
  readonly file: string;
  readonly changed: boolean;
  readonly state: string;
  readonly advice: string;
}

export interface ConnectedClient {
  readonly client: string;
  readonly version: string;
  readonly paths: readonly ConnectedPath[];
  readonly servers: readonly ImportedServer[];
}

/** Puts the gate in front of the coding agents of this user, or takes it away again. */
export async function runInit(options: InitOptions, context: CommandContext): Promise<number> {
  if (options.managed === true) return runManaged(options, context);
  const clients = chooseClients(options, context);
  using _ = holdInitLock(context.config.home.folder);
  // Held until it has ended.
  if (options.undo === true) return await undoInit(clients, options, context);
  return await connectClients(clients, options, context);
}

function chooseClients({ client, undo }: InitOptions, context: CommandContext): readonly KnownClient[] {
  if (client !== undefined) return [...new Set(client)].map((name) => findClient(name, context));
  const all = findClients(context);
  const found = undo === true ? all : all.filter(({ isInstalled }) => isInstalled);
  if (found.length > 0) return found;
  throw usageFailure(
    `None of the clients that are known here is installed: ${all.map(({ title }) => title).join(', ')}.`,
    'Name one with --client to connect it all the same.',
  );
}

function connectClients(
  clients: readonly KnownClient[],
  options: InitOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal, json, config } = context;
  return runSteps(context, async (step) => {
    const kept = new KeptSettings(config.home.folder);
    const root = realpathSync(config.startFolder);
    const { upstreams } = await step<InJson<UpstreamList>>('upstreams.list', {});
    const { secrets } = await step<InJson<SecretList>>('secrets.list', {});
    const names = (listed: readonly { readonly name: string }[]) => new Set(listed.map(({ name }) => name));
    const book = { upstreams: names(upstreams), secrets: names(secrets), imports: new Map() };
    const plans: ClientPlan[] = [];
    for (const client of clients) plans.push(await withItsTrust(planClient(client, root, book, kept), context));
    if (!json) showPlan(plans, context);
    if (plans.some(({ files }) => files.some(({ before, edit }) => edit(before) !== before))) {
      await seekConsent('Change these files?', { yes: options.yes === true }, context);
    }
    const connected: ConnectedClient[] = [];
    const done = new Set<string>();
    for (const plan of plans) connected.push(await connectClient(plan, step, { kept, done }, context));
    if (json) terminal.print(visibleJson({ clients: connected }));
    else showConnected(connected, context);
    const isLive = connected.every(({ paths }) =>
      paths.every(({ state }) => state === 'live' || state === 'live if trusted'),
    );
    return isLive ? exitCodes.success : exitCodes.toolError;
  });
}

/** Codex skips hooks that nobody has trusted: the person who agrees to the change trusts ours with it. */
async function withItsTrust(plan: ClientPlan, { config }: CommandContext): Promise<ClientPlan> {
  const { client, files } = plan;
  const planned = files.find(({ file }) => file === client.hooks?.file);
  if (client.name !== 'codex' || planned === undefined) return plan;
  const trust = await findTrust(client, planned.edit(planned.before), join(config.home.folder, 'clients'));
  return withTrust(plan, trust);
}

async function connectClient(
  plan: ClientPlan,
  step: Step,
  { kept, done }: { readonly kept: KeptSettings; readonly done: Set<string> },
  context: CommandContext,
): Promise<ConnectedClient> {
  const { client, files, shared } = plan;
  const root = await connectSession(client, step, context);
  const servers = await importServers(plan, step, { kept, done }, context);
  const stay = servers.filter(({ upstream }) => upstream === undefined).map(({ server }) => server);
  const changed = new Set<string>();
  for (const { file, edit } of files) {
    // As it is now: the client may have written to it meanwhile.
    const present = kept.read(file)?.toString() ?? '';
    const text = edit(present, stay);
    if (text === present) continue;
    kept.replace(client.name, file, text);
    changed.add(file);
  }
  const fromProject = shared.map(({ server, file }) => ({
    ...{ server, secrets: [] },
    why: `it is in ${file}, which others share`,
  }));
  const { name, version = '' } = client;
  const paths = await probePaths(client, changed, root, context);
  return { client: name, version, paths, servers: [...servers, ...fromProject] };
}

/** A session of its own for each client and project, so that the log tells them apart. */
export async function connectSession(client: KnownClient, step: Step, { config }: CommandContext): Promise<string> {
  const input = { agent: client.name, client_folder: config.startFolder };
  const { sessionId, token, workspace } = await step<InJson<CreateSessionResponse>>('sessions.create', input, 'agreed');
  const { folder, agentSocket } = config.home;
  const earlier = readConnection(folder, client.name).sessions.find(({ root }) => root === workspace);
  const { file, format, entry } = client.servers;
  const server = format === 'toml' ? { file, text: writeOwnServer(client.servers) } : { file, entry };
  const connectedAtMs = earlier?.connectedAtMs ?? Date.now();
  const project = { root: workspace, sessionId, token, connectedAtMs };
  connectProject(folder, client.name, project, { socket: agentSocket, server });
  // It may have ended, or belong to a log that is gone.
  if (earlier !== undefined)
    await step('sessions.end', { session_id: earlier.sessionId }, 'agreed').catch(() => undefined);
  return workspace;
}

/** Through each path, a use that must be denied. */
export async function probePaths(
  known: KnownClient,
  changed: ReadonlySet<string>,
  root: string,
  context: CommandContext,
): Promise<readonly ConnectedPath[]> {
  const { name: client, hooks, servers, afterwards = '' } = known;
  const forbidden = join(context.config.home.folder, 'keys', 'audit.key');
  const paths: ConnectedPath[] = [];
  const describe = (path: ConnectedPath['path'], file: string, { probe: state, said }: Probed) => {
    const next = (path === 'mcp' && hooks !== undefined) || client === 'codex' ? '' : afterwards;
    paths.push({ client, path, file, changed: changed.has(file), state, advice: state === 'live' ? next : said });
  };
  if (hooks !== undefined) {
    const probed = await probeHook(client, hooks.command, root, forbidden);
    const isOfCodex = client === 'codex' && probed.probe === 'live';
    describe('hooks', hooks.file, isOfCodex ? await askCodex(known, root) : probed);
  }
  const { words, environment } = findOwnProgram(context);
  const launch = { words: [...words, 'mcp', '--client', client], environment };
  describe('mcp', servers.file, await probeServer(launch, root, forbidden));
  return paths;
}

/** A hook that blocks when it is started does nothing if Codex does not start it. */
async function askCodex(client: KnownClient, root: string): Promise<Probed> {
  const said = client.afterwards ?? '';
  switch (await askTrust(client, root)) {
    case 'trusted':
      return { probe: 'live', said: '' };
    case 'untrusted':
      return { probe: 'not trusted', said };
    case 'unknown':
      return { probe: 'live if trusted', said };
  }
}
