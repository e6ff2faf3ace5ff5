import type { Command } from 'commander';
import { parseCount } from '../../terminal/option-values.ts';
import type { Run } from '../../program.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import type { UpstreamAddOptions } from './upstream.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `upstream`: MCP servers behind the gate. */
export function addUpstreamCommands(program: Command, start: Start): void {
  const upstream = program.command('upstream').description('put MCP servers behind the gate');
  upstream
    .command('add <name> [command...]')
    .description('add a server: a command to start in the sandbox (after --), or --url')
    .option('--url <url>', 'the address of a server that runs elsewhere')
    .option('--bearer-secret <name>', 'stored secret that is sent to it as bearer token')
    .option('--client-id <id>', 'client that was registered for the gate where people log in')
    .option('--client-secret <name>', 'stored secret of that client')
    .option('--private-key <name>', 'stored key (PEM) of that client, instead of a secret')
    .option('--algorithm <name>', 'the algorithm that the key signs with; RS256 by default')
    .option('--issuer <url>', 'the authorization server that may receive the secret or what the key signs')
    .option('--client-credentials', 'the gate logs in as that client; no person does')
    .option('--client-metadata-url <url>', 'document that describes the gate as a client')
    .option('--scopes <scopes...>', 'the scopes that a login asks for; by default those that the server names')
    .option('--login-hosts <hosts...>', 'hosts of its authorization server that are not public, as 127.0.0.1:9000')
    .option('--redirect-port <port>', 'port of this machine that the browser returns to', parseCount)
    .option('--may-ask <kinds...>', 'what it may ask for, if a rule allows it: elicitation, sampling, roots')
    .option('--read <paths...>', 'absolute files and folders that it may read')
    .option('--write <paths...>', 'absolute files and folders that it may change')
    .option('--hosts <patterns...>', 'hosts that it may reach')
    .option('--unix-sockets', 'let it use unix sockets, also those of other programs in the folders it sees')
    .option('--environment <pairs...>', 'its variables, as NAME=value')
    .option('--secrets <names...>', 'stored secrets that it gets as variables')
    .option('--yes', 'do not ask')
    .action((name: string, command: string[], options: UpstreamAddOptions & ConsentOptions) =>
      start(async (context) => (await import('./upstream.ts')).addUpstream(name, command, options, context)),
    );
  upstream
    .command('list')
    .description('list the servers and their status')
    .action(() => start(async (context) => (await import('./upstream.ts')).listUpstreams(context)));
  upstream
    .command('show <name>')
    .description('show one server, its tools and what has changed in them')
    .action((name: string) => start(async (context) => (await import('./upstream.ts')).showUpstream(name, context)));
  upstream
    .command('test <name>')
    .description('connect to a server now and list its tools')
    .action((name: string) => start(async (context) => (await import('./upstream.ts')).testUpstream(name, context)));
  upstream
    .command('login <name>')
    .description('log in at a server: prints a page to open, and waits until you have agreed there')
    .action((name: string) =>
      start(async (context) => (await import('./upstream-login.ts')).loginUpstream(name, context)),
    );
  upstream
    .command('logout <name>')
    .description('forget the login at a server')
    .option('--yes', 'do not ask')
    .action((name: string, options: ConsentOptions) =>
      start(async (context) => (await import('./upstream-login.ts')).logoutUpstream(name, options, context)),
    );
  upstream
    .command('accept <name>')
    .description('accept the tools of a server as they are now: all of them, or one by its name')
    .option('--yes', 'do not ask')
    .action((name: string, options: ConsentOptions) =>
      start(async (context) => (await import('./upstream.ts')).acceptUpstream(name, options, context)),
    );
  upstream
    .command('remove <name>')
    .description('stop a server and remove it')
    .option('--yes', 'do not ask')
    .action((name: string, options: ConsentOptions) =>
      start(async (context) => (await import('./upstream.ts')).removeUpstream(name, options, context)),
    );
}
