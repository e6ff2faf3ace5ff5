import {
  choice,
  command,
  count,
  file,
  flag,
  optionalCount,
  optionalWord,
  parseHours,
  parsed,
  required,
  text,
  withDefault,
  word,
  words,
} from '../../command-table.ts';

const name = { name: word('name', { completes: 'tool' }) };
const pairs = words('key=value', { completes: 'tool-argument' });
const installed = { name: word('name[@version]', { completes: 'installed-tool' }) };
const yes = { yes: flag('do not ask') };

export const listOptions = {
  category: text('name', 'only this category'),
  tag: text('name', 'only with this tag'),
  origin: text('name', 'only of this origin: builtin, executable, configured, pipeline or upstream'),
};

export const invokeOptions = {
  input: text('json', 'the arguments as one JSON object'),
  inputFile: file('file', 'the same from a file, or - for standard input'),
  timeoutMs: count('give up earlier than the tool would'),
  dedupeKey: text('key', 'the same key and arguments run once'),
  requestId: text('id', 'an id of your own, echoed in the answer'),
  taskId: text('id', 'kept in the record and the answer'),
  correlationId: text('id', 'kept in the record and the answer'),
  wait: optionalCount('seconds', 'wait if a person has to decide; without a number, up to 10 minutes'),
  yes: flag('agree to the call without being asked, for scripts (operators only)'),
  confirmToken: text('token', 'consent that was given beforehand, or for a plan'),
  trace: text('trace-id', 'make the call in this trace; a confirm token names its own'),
};

export const exportOptions = {
  format: required(choice('form', ['openai', 'anthropic', 'mcp'], 'for which kind of client')),
  session: text('id', 'whose tools; without it, those of the agent whose token is set'),
};

export const statusOptions = { hours: withDefault(parsed('number', 'how far to look back', parseHours), 24) };

export const newOptions = {
  ts: flag('in TypeScript, with the SDK; this is the default'),
  py: flag('in Python'),
  sh: flag('in Bash'),
  folder: file('folder', 'where to put it, instead of the folder the daemon watches'),
};

export const devOptions = {
  input: text('json', 'the arguments as one JSON object, instead of asking for them'),
  inputFile: file('file', 'the same from a file'),
  once: flag('run it once'),
  yes: flag('do not ask: accept it as it is, and run it'),
};

export const installOptions = {
  name: text('name', 'the name of its file in the tools folder'),
  bin: text('name', 'which program of an npm package'),
  withoutSchema: flag('install a program even if its --schema fails; callers may then send any JSON object'),
  ...yes,
};

/** Calling tools, writing them, and taking them in. */
export const toolCommands = [
  command('list', {
    help: 'list the tools that can be called in the current mode',
    options: listOptions,
    run: async (given, context) => (await import('./tool-list.ts')).listTools(given, context),
  }),
  command('show', {
    help: 'explain one tool and its arguments',
    arguments: name,
    run: async (given, context) => (await import('./tool-show.ts')).showTool(given.name, context),
  }),
  command('invoke', {
    help: 'call a tool; a value that is valid JSON is sent as JSON, unless the tool expects text',
    arguments: { ...name, pairs },
    options: invokeOptions,
    run: async ({ name: tool, pairs: given, ...options }, context) =>
      (await import('./tool-invoke.ts')).invokeTool(tool, given, options, context),
  }),
  command('export', {
    help: 'print the tools of a session in the form that a language model or an MCP client takes',
    options: exportOptions,
    run: async (given, context) => (await import('./tool-export.ts')).exportTools(given, context),
  }),
  command('status', {
    help: 'show the status of tools and their calls: counts, failures, durations',
    arguments: { name: optionalWord('name', { completes: 'tool' }) },
    options: statusOptions,
    run: async ({ name: tool, ...options }, context) =>
      (await import('./tool-status.ts')).showToolStatus(tool, options, context),
  }),
  command('new', {
    help: 'write a tool of your own from a template',
    arguments: { name: word('name') },
    options: newOptions,
    run: async ({ name: tool, ...options }, context) => (await import('./tool-new.ts')).newTool(tool, options, context),
  }),
  command('dev', {
    help: 'try a tool in the sandbox, again whenever you change it',
    arguments: { what: word('name-or-file', { completes: 'tool' }), pairs },
    options: devOptions,
    run: async ({ what, pairs: given, ...options }, context) =>
      (await import('./tool-dev.ts')).developTool(what, given, options, context),
  }),
  command('install', {
    help: 'show the description of a program, ask, and install it into the tools folder',
    arguments: { what: word('file-folder-or-package', { completes: 'files' }) },
    options: installOptions,
    run: async ({ what, ...options }, context) =>
      (await import('./tool-install.ts')).installTool(what, options, context),
  }),
  command('accept', {
    help: 'show a new or changed tool, ask, and accept exactly that',
    arguments: installed,
    options: yes,
    run: async (given, context) => (await import('./tool-accept.ts')).acceptTool(given.name, given, context),
  }),
  command('remove', {
    help: 'delete the file of a tool and forget that it was accepted',
    arguments: installed,
    options: yes,
    run: async (given, context) => (await import('./tool-remove.ts')).removeTool(given.name, given, context),
  }),
];
