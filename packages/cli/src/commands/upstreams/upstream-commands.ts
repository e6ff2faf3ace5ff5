import { command, count, file, flag, list, text, word, words } from '../../command-table.ts';

const name = { name: word('name') };
const yes = flag('do not ask');

/** MCP servers behind the gate. */
export const upstreamCommands = [
  command('add', {
    help: 'add a server: a command to start in the sandbox (after --), or --url',
    arguments: { ...name, command: words('command') },
    options: {
      url: text('url', 'the address of a server that runs elsewhere'),
      bearerSecret: text('name', 'stored secret that is sent to it as bearer token'),
      clientId: text('id', 'client that was registered for the gate where people log in'),
      clientSecret: text('name', 'stored secret of that client'),
      privateKey: file('name', 'stored key (PEM) of that client, instead of a secret'),
      algorithm: text('name', 'the algorithm that the key signs with; RS256 by default'),
      issuer: text('url', 'the authorization server that may receive the secret or what the key signs'),
      clientCredentials: flag('the gate logs in as that client; no person does'),
      clientMetadataUrl: text('url', 'document that describes the gate as a client'),
      scopes: list('scopes', 'the scopes that a login asks for; by default those that the server names'),
      loginHosts: list('hosts', 'hosts of its authorization server that are not public, as 127.0.0.1:9000'),
      redirectPort: { ...count('port of this machine that the browser returns to'), placeholder: 'port' },
      mayAsk: list('kinds', 'what it may ask for, if a rule allows it: elicitation, sampling, roots'),
      read: list('paths', 'absolute files and folders that it may read', { completes: 'files' }),
      write: list('paths', 'absolute files and folders that it may change', { completes: 'files' }),
      hosts: list('patterns', 'hosts that it may reach'),
      unixSockets: flag('let it use unix sockets, also those of other programs in the folders it sees'),
      environment: list('pairs', 'its variables, as NAME=value'),
      secrets: list('names', 'stored secrets that it gets as variables'),
      yes,
    },
    run: async ({ name: upstream, command: started, ...options }, context) =>
      (await import('./upstream.ts')).addUpstream(upstream, started, options, context),
  }),
  command('list', {
    help: 'list the servers and their status',
    run: async (_, context) => (await import('./upstream.ts')).listUpstreams(context),
  }),
  command('show', {
    help: 'show one server, its tools and what has changed in them',
    arguments: name,
    run: async (given, context) => (await import('./upstream.ts')).showUpstream(given.name, context),
  }),
  command('test', {
    help: 'connect to a server now and list its tools',
    arguments: name,
    run: async (given, context) => (await import('./upstream.ts')).testUpstream(given.name, context),
  }),
  command('login', {
    help: 'log in at a server: prints a page to open, and waits until you have agreed there',
    arguments: name,
    run: async (given, context) => (await import('./upstream-login.ts')).loginUpstream(given.name, context),
  }),
  command('logout', {
    help: 'forget the login at a server',
    arguments: name,
    options: { yes },
    run: async (given, context) => (await import('./upstream-login.ts')).logoutUpstream(given.name, given, context),
  }),
  command('accept', {
    help: 'accept the tools of a server as they are now: all of them, or one by its name',
    arguments: name,
    options: { yes },
    run: async (given, context) => (await import('./upstream.ts')).acceptUpstream(given.name, given, context),
  }),
  command('remove', {
    help: 'stop a server and remove it',
    arguments: name,
    options: { yes },
    run: async (given, context) => (await import('./upstream.ts')).removeUpstream(given.name, given, context),
  }),
];
