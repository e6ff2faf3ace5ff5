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
  url: text('url', 'the address of a server that runs elsewhere'),
  bearerSecret: text('name', 'stored secret that is sent to it as bearer token'),
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
  help: 'add a server: a command to start in the sandbox (after --), or --url',
  arguments: addArguments,
  options: addOptions,
  run: addUpstream,
});

function addUpstream(
  {
    name,
    command: started,
    environment,
    bearerSecret,
    yes = false,
    url,
    read,
    write,
    hosts,
    secrets,
    unixSockets,
    mayAsk,
    ...login
  }: Given<typeof addArguments, typeof addOptions>,
  context: CommandContext,
): Promise<number> {
  const oauth = layOutLogin(login);
  const given = { url, read, write, hosts, secrets, oauth, unix_sockets: unixSockets, may_ask: mayAsk };
  const input = {
    name,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(started.length === 0 ? {} : { command: started }),
    ...(bearerSecret === undefined ? {} : { bearer_secret: bearerSecret }),
    ...(environment === undefined ? {} : { environment: Object.fromEntries(environment.map(splitPair)) }),
  };
  for (const part of started.slice(1)) refuseRelative(part);
  return runSteps(context, async (step) => {
    const { terminal, json, commandName } = context;
    if (!json) terminal.print(...renderFields(describeInput(input), terminal.columns, ''));
    await seekConsent('Add this upstream?', { yes }, context);
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

/** One field a part, so that a person sees what the server gets. */
function describeInput(input: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(input).map(([key, value]) => [
    `${key}:`,
    makeVisibleLine(Array.isArray(value) ? value.join(' ') : typeof value === 'string' ? value : JSON.stringify(value)),
  ]);
}

/** As the file says it. Undefined: the file says nothing about the login. */
function layOutLogin({ clientCredentials, ...login }: Given<typeof loginOptions>): object | undefined {
  const entries = {
    grant: clientCredentials === true ? 'client_credentials' : undefined,
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
