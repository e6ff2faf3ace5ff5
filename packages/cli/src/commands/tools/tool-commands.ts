import type { Command } from 'commander';
import { parseCount, parseHours } from '../../terminal/option-values.ts';
import type { Run } from '../../program.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import type { ToolDevOptions } from './tool-dev.ts';
import type { ToolInstallOptions } from './tool-install.ts';
import type { InvokeOptions } from './tool-invoke.ts';
import type { ToolListOptions } from './tool-list.ts';
import type { ToolNewOptions } from './tool-new.ts';
import type { ToolStatusOptions } from './tool-status.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `tool`: calling tools, writing them, and taking them in. */
export function addToolCommands(program: Command, start: Start): void {
  const tool = program.command('tool').description('see, call, write and install tools');
  addCallingCommands(tool, start);
  addWritingCommands(tool, start);
  addInstallingCommands(tool, start);
}

function addCallingCommands(tool: Command, start: Start): void {
  tool
    .command('list')
    .description('list the tools that exist in the present mode')
    .option('--category <name>', 'only this category')
    .option('--tag <name>', 'only with this tag')
    .option('--origin <name>', 'only of this origin: builtin, executable, configured, pipeline or upstream')
    .action((options: ToolListOptions) =>
      start(async (context) => (await import('./tool-list.ts')).listTools(options, context)),
    );
  tool
    .command('show <name>')
    .description('explain one tool and its arguments')
    .action((name: string) => start(async (context) => (await import('./tool-show.ts')).showTool(name, context)));
  tool
    .command('invoke <name> [key=value...]')
    .description('call a tool; a value that reads as JSON is JSON, unless the tool expects text there')
    .option('--input <json>', 'the arguments as one JSON object')
    .option('--input-file <file>', 'the same from a file, or - for standard input')
    .option('--timeout-ms <number>', 'give up earlier than the tool would', parseCount)
    .option('--dedupe-key <key>', 'the same key and arguments run once')
    .option('--request-id <id>', 'an id of your own, echoed in the answer')
    .option('--task-id <id>', 'kept in the record and the answer')
    .option('--correlation-id <id>', 'kept in the record and the answer')
    .option(
      '--wait [seconds]',
      'wait for a person to decide, where one has to; without a number, up to 10 minutes',
      parseCount,
    )
    .option('--yes', 'agree to the call without being asked, for scripts (operators only)')
    .option('--confirm-token <token>', 'consent that was given beforehand, or for a plan')
    .option('--trace <trace-id>', 'make the call in this trace; a confirm token names its own')
    .action((name: string, pairs: string[], options: InvokeOptions) =>
      start(async (context) => (await import('./tool-invoke.ts')).invokeTool(name, pairs, options, context)),
    );
  tool
    .command('status [name]')
    .description('show the status of tools and their calls: counts, failures, durations')
    .option('--hours <number>', 'how far to look back', parseHours, 24)
    .action((name: string | undefined, options: ToolStatusOptions) =>
      start(async (context) => (await import('./tool-status.ts')).showToolStatus(name, options, context)),
    );
}

function addWritingCommands(tool: Command, start: Start): void {
  tool
    .command('new <name>')
    .description('write a tool of your own from a template')
    .option('--ts', 'in TypeScript, with the SDK; this is the default')
    .option('--py', 'in Python')
    .option('--sh', 'in Bash')
    .option('--folder <folder>', 'where to put it, instead of the folder the daemon watches')
    .action((name: string, options: ToolNewOptions) =>
      start(async (context) => (await import('./tool-new.ts')).newTool(name, options, context)),
    );
  tool
    .command('dev <name-or-file> [key=value...]')
    .description('try a tool in the sandbox, again whenever you change it')
    .option('--input <json>', 'the arguments as one JSON object, instead of asking for them')
    .option('--input-file <file>', 'the same from a file')
    .option('--once', 'run it once')
    .option('--yes', 'do not ask: accept it as it is, and run it')
    .action((what: string, pairs: string[], options: ToolDevOptions) =>
      start(async (context) => (await import('./tool-dev.ts')).developTool(what, pairs, options, context)),
    );
}

function addInstallingCommands(tool: Command, start: Start): void {
  tool
    .command('install <file-folder-or-package>')
    .description('show the description of a program, ask, and install it into the tools folder')
    .option('--name <name>', 'the name of its file in the tools folder')
    .option('--bin <name>', 'which program of an npm package')
    .option('--without-schema', 'install a program even if its --schema fails; callers may then send any JSON object')
    .option('--yes', 'do not ask')
    .action((what: string, options: ToolInstallOptions) =>
      start(async (context) => (await import('./tool-install.ts')).installTool(what, options, context)),
    );
  tool
    .command('accept <name[@version]>')
    .description('show a new or changed tool, ask, and accept exactly that')
    .option('--yes', 'do not ask')
    .action((name: string, options: ConsentOptions) =>
      start(async (context) => (await import('./tool-accept.ts')).acceptTool(name, options, context)),
    );
  tool
    .command('remove <name[@version]>')
    .description('delete the file of a tool and forget that it was accepted')
    .option('--yes', 'do not ask')
    .action((name: string, options: ConsentOptions) =>
      start(async (context) => (await import('./tool-remove.ts')).removeTool(name, options, context)),
    );
}
