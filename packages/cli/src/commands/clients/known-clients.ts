import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { HookGroup } from './edit-hooks.ts';

/** A coding agent whose hooks ask the gate. */
export interface KnownClient {
  /** As `sallyport hook` names it. */
  readonly name: string;
  readonly title: string;
  /** Where its hooks are set for all projects of the user. */
  readonly settingsFile: string;
  readonly isInstalled: boolean;
  /** By the event of the client. */
  readonly hooks: Readonly<Record<string, HookGroup>>;
  /** What the person still has to do in the client. Absent: nothing. */
  readonly afterwards?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Clients wait so long at most; the gate answers before that. */
const timeoutSeconds = 600;

/** `command`: how `sallyport hook` is started, for a shell. */
export function listClients(home: string, environment: Environment, command: string): readonly KnownClient[] {
  const claudeFolder = environment['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude');
  const codexFolder = environment['CODEX_HOME'] ?? join(home, '.codex');
  return [
    {
      name: 'claude-code',
      title: 'Claude Code',
      settingsFile: join(claudeFolder, 'settings.json'),
      isInstalled: existsSync(claudeFolder) || isOnPath('claude', environment),
      hooks: hooksFor(`${command} hook claude-code`, ['Stop', 'SubagentStop', 'SessionEnd'], ['PostToolUseFailure']),
    },
    {
      name: 'codex',
      title: 'Codex',
      settingsFile: join(codexFolder, 'hooks.json'),
      isInstalled: existsSync(codexFolder) || isOnPath('codex', environment),
      hooks: hooksFor(`${command} hook codex`, ['Stop'], []),
      afterwards: 'Start Codex once and trust the new hooks: it passes over hooks that nobody has trusted.',
    },
  ];
}

function hooksFor(command: string, endings: readonly string[], failures: readonly string[]) {
  const hooks = [{ type: 'command', command, timeout: timeoutSeconds }];
  const ofTools = ['PreToolUse', 'PostToolUse', ...failures].map((event) => [event, { matcher: '*', hooks }] as const);
  return Object.fromEntries([...ofTools, ...endings.map((event) => [event, { hooks }] as const)]);
}

function isOnPath(program: string, environment: Environment): boolean {
  return (environment['PATH'] ?? '').split(':').some((folder) => folder !== '' && existsSync(join(folder, program)));
}
