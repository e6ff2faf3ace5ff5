import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { command, count, flag, list, text, word, words } from '../../command-table.ts';
import type { Given } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import { renderFields } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { findKnown } from './known-servers.ts';
import { openPackage } from './open-package.ts';
import { readLauncher } from './read-launcher.ts';
import type { LaunchedPackage } from './read-launcher.ts';

/** What is said about the login. */
const loginOptions = {
  clientId: text('id', 'client that was registered for the gate where people log in'),
  clientSecret: text('name', 'stored secret of that client'),
  privateKey: text('name', 'stored key (PEM) of that client, instead of a secret'),
  algorithm: text('name', 'the algorithm that the key signs with; RS256 by default'),
  issuer: text('url', 'the authorization server that may receive the secret or what the key signs'),
  clientCredentials: flag('the gate logs in as that client; no person does'),
  clientMetadataUrl: text('url', 'document that describes the gate as a client'),
  scopes: list('scopes', 'the scopes that a login asks for; by default those that the server names'),
  loginHosts: list('hosts', 'hosts of its authorization server that are not public, as 127.0.0.1:9000'),
  redirectPort: { ...count('port of this machine that the browser returns to'), placeholder: 'port' },
};
const addArguments = { name: word('name'), command: words('command') };
const addOptions = {
  npm: text('package', 'npm package to fetch now, pin and start, as NAME or NAME@VERSION; arguments after --'),
  bin: text('name', 'which program of the package'),
  from: text('name', 'a server of the catalogue (`upstream catalogue`), if the upstream gets another name'),
  url: text('url', 'the address of a server that runs elsewhere'),
  bearerSecret: text('name', 'stored secret that is sent to it as bearer token'),
  secretHeaders: list('pairs', 'stored secrets that are sent to it in headers of their own, as X-API-Key=NAME'),
  ...loginOptions,
  mayAsk: list('kinds', 'what it may ask for, if a rule allows it: elicitation, sampling, roots'),
  read: list('paths', 'absolute files and folders that it may read', { completes: 'files' }),
  write: list('paths', 'absolute files and folders that it may change', { completes: 'files' }),
  hosts: list('patterns', 'hosts that it may reach'),
  unixSockets: flag('let it use unix sockets, also those of other programs in the folders it sees'),
  environment: list('pairs', 'its variables, as NAME=value'),
  secrets: list('names', 'stored secrets that it gets as variables'),
  yes: flag('do not ask'),
};

export const addCommand = command('add', {
  help: 'add a server: a name of the catalogue, --npm, --url, or a command to start in the sandbox (after --)',
  arguments: addArguments,
  options: addOptions,
  run: addUpstream,
});

type AddGiven = Given<typeof addArguments, typeof addOptions>;

function addUpstream(given: AddGiven, context: CommandContext): Promise<number> {
  const source = chooseSource(given);
  const { name, yes = false } = given;
  for (const part of source.kind === 'package' ? source.args : given.command.slice(1)) refuseRelative(part);
  return runSteps(context, async (step) => {
    const { terminal, json } = context;
    await using opened = source.kind === 'package' ? await openPackage(source, given, context) : undefined;
    const asked = { ...layOut({ ...given, ...opened?.grants }, source) };
    if (!json) {
      const fields = [...(opened?.fields ?? []), ...describeInput(asked)].map(
        ([label, value]) => [`${label}:`, value] as const,
      );
      terminal.print(...renderFields([['name:', makeVisibleLine(name)], ...fields], terminal.columns, ''));
      for (const hint of opened?.hints ?? []) terminal.print(...wrapWords(hint, terminal.columns));
    }
    await seekConsent('Add this upstream?', { yes }, context);
    const bundle = opened === undefined ? {} : { package: await opened.upload() };
    const added = await step('upstreams.add', { name, ...asked, ...bundle }, 'agreed');
    if (json) terminal.print(visibleJson(added));
    else tellAdded(makeVisibleLine(name), context);
    return exitCodes.success;
  });
}

function tellAdded(name: string, { terminal, commandName }: CommandContext): void {
  terminal.print(
    ...wrapWords(
      `The upstream ${name} is added. Its tools can be called once they are accepted and a rule allows them:`,
      terminal.columns,
    ),
    `  ${commandName} upstream test ${name}`,
    `  ${commandName} upstream accept ${name}`,
  );
}

/** Where the server comes from. */
type Source =
  | ({ readonly kind: 'package' } & LaunchedPackage)
  | { readonly kind: 'command'; readonly command: readonly string[] }
  | { readonly kind: 'url'; readonly url: string }
  /** The gate says what is missing. */
  | { readonly kind: 'none' };

function chooseSource({ name, command: started, npm, bin, url, from }: AddGiven): Source {
  const ways = Object.entries({ npm, url, from }).filter(([, value]) => value !== undefined);
  if (ways.length > 1) throw usageFailure(`Give one of ${ways.map(([way]) => `--${way}`).join(' and ')}.`);
  const chosenBin = bin === undefined ? {} : { bin };
  if (npm !== undefined) return { kind: 'package', spec: npm, args: started, ...chosenBin };
  const known = from === undefined ? (url === undefined ? findImplied(name, started) : undefined) : findKnown(from);
  if (from !== undefined && known === undefined) {
    throw usageFailure(`${makeVisibleLine(from)} is not in the catalogue.`, '`sallyport upstream catalogue` lists it.');
  }
  if (known?.npm !== undefined) return { kind: 'package', spec: known.npm, args: started, ...chosenBin };
  const address = known?.url ?? url;
  if (address !== undefined) return { kind: 'url', url: address };
  const launched = readLauncher(started);
  if (launched !== undefined) return { kind: 'package', ...launched, ...chosenBin };
  if (bin !== undefined) throw usageFailure('--bin is for npm packages.');
  return started.length === 0 ? { kind: 'none' } : { kind: 'command', command: started };
}

/** `upstream add filesystem -- /srv/notes` means the server of the catalogue: a folder is not a command. */
function findImplied(name: string, started: readonly string[]) {
  const [first] = started;
  const isCommand = first !== undefined && statSync(first, { throwIfNoEntry: false })?.isDirectory() !== true;
  return isCommand ? undefined : findKnown(name);
}

/** As the daemon is asked, apart from the name and the package. */
function layOut(given: Omit<AddGiven, 'name'>, source: Source): Readonly<Record<string, unknown>> {
  const { bearerSecret, secretHeaders, environment, read, write, hosts, secrets, unixSockets, mayAsk } = given;
  const oauth = layOutLogin(given);
  const entries = {
    ...(source.kind === 'url' ? { url: source.url } : {}),
    ...(source.kind === 'command' ? { command: source.command } : {}),
    ...(source.kind === 'package' && source.args.length > 0 ? { arguments: source.args } : {}),
    ...{ read, write, hosts, secrets, oauth, unix_sockets: unixSockets, may_ask: mayAsk, bearer_secret: bearerSecret },
    environment: environment && Object.fromEntries(environment.map(splitPair)),
    secret_headers: secretHeaders && Object.fromEntries(secretHeaders.map(splitPair)),
  };
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}

/** One field a part, so that a person sees what the server gets. */
function describeInput(input: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(input).map(([key, value]) => [
    key,
    makeVisibleLine(Array.isArray(value) ? value.join(' ') : typeof value === 'string' ? value : JSON.stringify(value)),
  ]);
}

/** As the file says it. Undefined: the file says nothing about the login. */
function layOutLogin(login: Given<typeof loginOptions>): object | undefined {
  const entries = {
    grant: login.clientCredentials === true ? 'client_credentials' : undefined,
    issuer: login.issuer,
    client_id: login.clientId,
    client_secret: login.clientSecret,
    private_key: login.privateKey,
    algorithm: login.algorithm,
    client_metadata_url: login.clientMetadataUrl,
    scopes: login.scopes,
    hosts: login.loginHosts,
    redirect_port: login.redirectPort,
  };
  const given = Object.entries(entries).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** The server starts elsewhere: a file that the person sees in this folder would not be found. */
function refuseRelative(part: string): void {
  if (part.startsWith('/') || part.startsWith('-')) return;
  const path = resolve(part);
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind === undefined || !(kind.isFile() || part.includes('/') || /^\.{1,2}$/.test(part))) return;
  throw usageFailure(
    `The server does not start in this folder, so it would not find ${part}: relative paths do not work.`,
    `Give the whole path, ${path}, and let the server see it with --read ${path}`,
  );
}

function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw usageFailure(`Not a variable: ${pair}`, 'Give it as NAME=value.');
  return [pair.slice(0, at), pair.slice(at + 1)];
}
