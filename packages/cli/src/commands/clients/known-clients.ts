import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { quoteForShell } from '../../terminal/command-name.ts';
import type { HookEntry, HookPlan } from './edit-hooks.ts';
import { writePlugin } from './opencode-plugin.ts';
import { findVersion } from './client-version.ts';

/** How `sallyport` is started by a client: by absolute paths, because clients have a PATH of their own. */
export interface OwnProgram {
  readonly words: readonly string[];
  /** What is not as usual, such as SALLYPORT_HOME. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Where a client finds its hooks. */
export interface HookPlace {
  readonly file: string;
  /** What the file becomes. `all`: a file that is ours alone. */
  readonly content: HookPlan | { readonly all: string };
  /** What the client runs before a use, through a shell. */
  readonly command: string;
}

/** Where a client finds its MCP servers. */
export interface ServerPlace {
  readonly file: string;
  readonly format: 'json' | 'toml';
  /** The member, or the kind of table, that has the servers by name. */
  readonly member: string;
  /** Ours. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Files of a project that name servers as well. They are not changed. */
  readonly projectFiles: readonly string[];
}

/** A client of agents. */
export interface KnownClient {
  /** As `sallyport hook` and `init --client` name it. */
  readonly name: string;
  readonly title: string;
  readonly isInstalled: boolean;
  /** Absent: not known. */
  readonly version?: string;
  /** Absent: it has no hooks, so its own tools cannot be judged. */
  readonly hooks?: HookPlace;
  readonly servers: ServerPlace;
  /** What the person still has to do in the client. Absent: nothing. */
  readonly afterwards?: string;
  /** What passes the gate by in this client, as far as it is known. */
  readonly gaps: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Clients wait so long at most; the gate answers before that. */
const timeoutSeconds = 600;

/** All that are known, installed or not. */
export function listClients(home: string, environment: Environment, program: OwnProgram): readonly KnownClient[] {
  const at = (...parts: string[]): string => join(home, ...parts);
  const config = environment['XDG_CONFIG_HOME'] || at('.config');
  const application = process.platform === 'darwin' ? at('Library', 'Application Support') : config;
  const claude = environment['CLAUDE_CONFIG_DIR'] || at('.claude');
  const codex = environment['CODEX_HOME'] || at('.codex');
  const opencode = join(config, 'opencode');
  const jsonc = join(opencode, 'opencode.jsonc');
  const isThere = (names: { folders?: readonly string[]; program?: string }): boolean =>
    (names.folders ?? []).some((folder) => existsSync(folder)) ||
    (names.program !== undefined && isOnPath(names.program, environment));
  const version = (name: string) => findVersion(name, environment);
  const stdio = (name: string, extra: object = {}): Readonly<Record<string, unknown>> => {
    const [command, ...args] = [...program.words, 'mcp', '--client', name];
    return { ...extra, command, args, ...withEnvironment('env', program) };
  };
  const mcpServers = { format: 'json', member: 'mcpServers', projectFiles: [] } as const;
  const clients: readonly KnownClient[] = [
    {
      name: 'claude-code',
      title: 'Claude Code',
      isInstalled: isThere({ folders: [claude], program: 'claude' }),
      ...version('claude'),
      hooks: {
        file: join(claude, 'settings.json'),
        content: grouped('claude-code', program, {
          before: ['PreToolUse'],
          after: ['PostToolUse', 'PostToolUseFailure'],
          over: ['Stop', 'SubagentStop', 'SessionEnd'],
        }),
        command: beforeCommand('claude-code', program),
      },
      servers: {
        ...mcpServers,
        file: environment['CLAUDE_CONFIG_DIR'] ? join(claude, '.claude.json') : at('.claude.json'),
        entry: stdio('claude-code', { type: 'stdio' }),
        projectFiles: ['.mcp.json'],
      },
      gaps: [
        'It goes on if a hook takes longer than 10 minutes. Ours answers before that, unless somebody holds it up.',
        'A user can take the hooks out of their settings, unless they are managed (`init --managed`).',
      ],
    },
    {
      name: 'codex',
      title: 'Codex',
      isInstalled: isThere({ folders: [codex], program: 'codex' }),
      ...version('codex'),
      hooks: {
        file: join(codex, 'hooks.json'),
        content: grouped('codex', program, { before: ['PreToolUse'], after: ['PostToolUse'], over: ['Stop'] }),
        command: beforeCommand('codex', program),
      },
      servers: {
        file: join(codex, 'config.toml'),
        format: 'toml',
        member: 'mcp_servers',
        entry: stdio('codex', { tool_timeout_sec: timeoutSeconds }),
        projectFiles: ['.codex/config.toml'],
      },
      afterwards: 'Start Codex once and trust the new hooks (/hooks): it skips hooks that nobody has trusted.',
      gaps: [
        'Codex silently skips hooks that nobody has trusted. Trust is bound to what a hook says.',
        'Codex has hooks for commands, patches and MCP tools; its other tools (web search, input to a running command) ask nobody.',
        'A user can take the hooks out of their settings, unless they are managed (`init --managed`).',
      ],
    },
    {
      name: 'gemini',
      title: 'Gemini CLI',
      isInstalled: isThere({ folders: [at('.gemini')], program: 'gemini' }),
      ...version('gemini'),
      hooks: {
        file: at('.gemini', 'settings.json'),
        content: grouped(
          'gemini',
          program,
          { before: ['BeforeTool'], after: ['AfterTool'], over: ['AfterAgent', 'SessionEnd'] },
          1000,
        ),
        command: beforeCommand('gemini', program),
      },
      servers: {
        ...mcpServers,
        file: at('.gemini', 'settings.json'),
        entry: { ...stdio('gemini'), timeout: timeoutSeconds * 1000 },
        projectFiles: ['.gemini/settings.json'],
      },
      gaps: [
        'It goes on if a hook takes longer than 10 minutes. Ours answers before that, unless somebody holds it up.',
        'A user can switch hooks off or take them out of their settings.',
      ],
    },
    {
      name: 'opencode',
      title: 'opencode',
      isInstalled: isThere({ folders: [opencode], program: 'opencode' }),
      ...version('opencode'),
      hooks: {
        file: join(opencode, 'plugin', 'sallyport.js'),
        content: { all: writePlugin(program) },
        command: hookCommand('opencode', program),
      },
      servers: {
        file: existsSync(jsonc) ? jsonc : join(opencode, 'opencode.json'),
        format: 'json',
        member: 'mcp',
        entry: {
          type: 'local',
          command: [...program.words, 'mcp', '--client', 'opencode'],
          ...withEnvironment('environment', program),
          enabled: true,
        },
        projectFiles: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json'],
      },
      gaps: ['opencode loads no plugins when it is started with --pure or OPENCODE_PURE, and asks nobody then.'],
    },
    {
      name: 'cursor',
      title: 'Cursor',
      isInstalled: isThere({ folders: [at('.cursor')], program: 'cursor' }),
      hooks: {
        file: at('.cursor', 'hooks.json'),
        content: cursorHooks(program),
        command: beforeCommand('cursor', program),
      },
      servers: {
        ...mcpServers,
        file: at('.cursor', 'mcp.json'),
        entry: stdio('cursor'),
        projectFiles: ['.cursor/mcp.json'],
      },
      afterwards: 'Restart Cursor. Sallyport was never run with it: only its payloads were tried.',
      gaps: ['What Cursor Tab completes is not judged.', 'A user can take the hooks out of their settings.'],
    },
    {
      name: 'windsurf',
      title: 'Windsurf',
      isInstalled: isThere({ folders: [at('.codeium', 'windsurf')], program: 'windsurf' }),
      hooks: {
        file: at('.codeium', 'windsurf', 'hooks.json'),
        content: windsurfHooks(program),
        command: beforeCommand('windsurf', program),
      },
      servers: { ...mcpServers, file: at('.codeium', 'windsurf', 'mcp_config.json'), entry: stdio('windsurf') },
      afterwards: 'Restart Windsurf. Sallyport was never run with it: only its payloads were tried.',
      gaps: [
        'It goes on if a hook ends with any other code than 2, or takes too long.',
        'A user can take the hooks out of their settings.',
      ],
    },
    {
      name: 'zed',
      title: 'Zed',
      isInstalled: isThere({ folders: [join(config, 'zed')], program: 'zed' }),
      servers: {
        file: join(config, 'zed', 'settings.json'),
        format: 'json',
        member: 'context_servers',
        entry: stdio('zed', { source: 'custom' }),
        projectFiles: ['.zed/settings.json'],
      },
      gaps: [withoutHooks('Zed')],
    },
    {
      name: 'vscode',
      title: 'VS Code',
      isInstalled: isThere({ folders: [join(application, 'Code', 'User')] }),
      servers: {
        file: join(application, 'Code', 'User', 'mcp.json'),
        format: 'json',
        member: 'servers',
        entry: stdio('vscode', { type: 'stdio' }),
        projectFiles: ['.vscode/mcp.json'],
      },
      gaps: [withoutHooks('VS Code')],
    },
    {
      name: 'claude-desktop',
      title: 'Claude Desktop',
      isInstalled: isThere({ folders: [join(application, 'Claude')] }),
      servers: {
        ...mcpServers,
        file: join(application, 'Claude', 'claude_desktop_config.json'),
        entry: stdio('claude-desktop'),
      },
      afterwards: 'Restart Claude Desktop.',
      gaps: [],
    },
  ];
  return clients;
}

function withoutHooks(title: string): string {
  return `${title} has no hooks that are known here: its own tools are not judged, only those of Sallyport.`;
}

function withEnvironment(member: string, { environment }: OwnProgram) {
  return Object.keys(environment).length === 0 ? {} : { [member]: environment };
}

/** For a shell. */
export function hookCommand(client: string, { words, environment }: OwnProgram): string {
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${quoteForShell(value)}`);
  return [...settings, ...words.map(quoteForShell), 'hook', client].join(' ');
}

/** Only 2 blocks: a program that is gone, or that crashes, ends with another code. */
export function beforeCommand(client: string, program: OwnProgram): string {
  return `${hookCommand(client, program)} || exit 2`;
}

interface Events {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Of a turn or a session: these have nothing to do with tools. */
  readonly over: readonly string[];
}

/** As Claude Code, Codex and Gemini CLI write hooks. */
function grouped(client: string, program: OwnProgram, { before, after, over }: Events, unitsPerSecond = 1): HookPlan {
  const hook = (command: string) => [{ type: 'command', command, timeout: timeoutSeconds * unitsPerSecond }];
  const told = hook(hookCommand(client, program));
  return {
    client,
    hooks: {
      ...byEvent(before, { matcher: '*', hooks: hook(beforeCommand(client, program)) }),
      ...byEvent(after, { matcher: '*', hooks: told }),
      ...byEvent(over, { hooks: told }),
    },
  };
}

function cursorHooks(program: OwnProgram): HookPlan {
  const before = { command: beforeCommand('cursor', program), timeout: timeoutSeconds, failClosed: true };
  const after = { command: hookCommand('cursor', program), timeout: timeoutSeconds };
  return {
    client: 'cursor',
    version: 1,
    hooks: {
      ...byEvent(['preToolUse', 'beforeMCPExecution'], before),
      ...byEvent(['postToolUse', 'postToolUseFailure', 'afterMCPExecution', 'stop', 'sessionEnd'], after),
    },
  };
}

function windsurfHooks(program: OwnProgram): HookPlan {
  const actions = ['run_command', 'read_code', 'write_code', 'mcp_tool_use'];
  const named = (when: string) => actions.map((action) => `${when}_${action}`);
  const after = { command: hookCommand('windsurf', program), show_output: false };
  return {
    client: 'windsurf',
    hooks: {
      ...byEvent(named('pre'), { command: beforeCommand('windsurf', program), show_output: true }),
      ...byEvent([...named('post'), 'post_cascade_response'], after),
    },
  };
}

function byEvent(events: readonly string[], entry: HookEntry): Readonly<Record<string, HookEntry>> {
  return Object.fromEntries(events.map((event) => [event, entry]));
}

function isOnPath(program: string, environment: Environment): boolean {
  return (environment['PATH'] ?? '').split(':').some((folder) => folder !== '' && existsSync(join(folder, program)));
}
