import type { Command } from 'commander';
import type { Run } from './program.ts';
import type { ConsentOptions } from './run-steps.ts';
import type { UpstreamAddOptions } from './upstream.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `upstream`: MCP servers behind the gate. */
export function addUpstreamCommands(program: Command, start: Start): void {
  const upstream = program.command('upstream').description('put MCP servers behind the gate');
  upstream
    .command('add <name> [command...]')
    .description('add a server: a command to start in the sandbox (after --), or --url')
    .option('--url <url>', 'where a server that runs elsewhere is reached')
    .option('--bearer-secret <name>', 'stored secret that is sent to it as bearer token')
    .option('--read <paths...>', 'absolute files and folders that it may read')
    .option('--write <paths...>', 'absolute files and folders that it may change')
    .option('--hosts <patterns...>', 'hosts that it may reach')
    .option('--environment <pairs...>', 'its variables, as NAME=value')
    .option('--secrets <names...>', 'stored secrets that it gets as variables')
    .option('--yes', 'do not ask')
    .action((name: string, command: string[], options: UpstreamAddOptions & ConsentOptions) =>
      start(async (context) => (await import('./upstream.ts')).addUpstream(name, command, options, context)),
    );
  upstream
    .command('list')
    .description('list the servers and how they are')
    .action(() => start(async (context) => (await import('./upstream.ts')).listUpstreams(context)));
  upstream
    .command('show <name>')
    .description('show one server, its tools and what has changed in them')
    .action((name: string) => start(async (context) => (await import('./upstream.ts')).showUpstream(name, context)));
  upstream
    .command('test <name>')
    .description('reach a server now and have it list its tools')
    .action((name: string) => start(async (context) => (await import('./upstream.ts')).testUpstream(name, context)));
  upstream
    .command('accept <name>')
    .description('let tools of a server be called, as they are now: all of them, or one by its name')
    .option('--yes', 'do not ask')
    .action((name: string, options: ConsentOptions) =>
      start(async (context) => (await import('./upstream.ts')).acceptUpstream(name, options, context)),
    );
  upstream
    .command('remove <name>')
    .description('end a server and forget it')
    .option('--yes', 'do not ask')
    .action((name: string, options: ConsentOptions) =>
      start(async (context) => (await import('./upstream.ts')).removeUpstream(name, options, context)),
    );
}
