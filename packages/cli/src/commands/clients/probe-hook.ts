import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** A probe asks for what no rule opens. */
export type Probe =
  | 'live'
  | 'blocks without asking'
  | 'does not block'
  /** Codex: nobody has trusted the hooks, so it passes over them. */
  | 'not trusted'
  /** Codex is not on the PATH, and cannot be asked. */
  | 'live if trusted';

export interface Probed {
  readonly probe: Probe;
  /** What was said instead of a denial. */
  readonly said: string;
}

/** What a client sends before it reads a file, and whether the answer is a denial of the gate. */
const forms: Readonly<Record<string, (path: string, cwd: string) => object>> = {
  'claude-code': (path, cwd) => ({
    ...uses(cwd),
    hook_event_name: 'PreToolUse',
    tool_name: 'Read',
    tool_input: { file_path: path },
  }),
  codex: (path, cwd) => ({
    ...uses(cwd),
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: `cat '${path}'` },
  }),
  gemini: (path, cwd) => ({
    ...uses(cwd),
    hook_event_name: 'BeforeTool',
    tool_name: 'read_file',
    tool_input: { file_path: path },
  }),
  opencode: (path, cwd) => ({
    ...uses(cwd),
    hook_event_name: 'tool.execute.before',
    tool_name: 'read',
    tool_input: { filePath: path },
  }),
  cursor: (path, cwd) => ({
    ...{ conversation_id: session, tool_use_id: newId(), workspace_roots: [cwd], cwd },
    ...{ hook_event_name: 'preToolUse', tool_name: 'Read', tool_input: { file_path: path } },
  }),
  windsurf: (path) => ({
    ...{ trajectory_id: session, execution_id: newId(), agent_action_name: 'pre_read_code' },
    tool_info: { file_path: path },
  }),
};

const session = 'sallyport-probe';
const newId = (): string => `probe-${Date.now()}`;
const uses = (cwd: string) => ({ session_id: session, tool_use_id: newId(), cwd });
const denial = /"(?:permissionDecision|decision|permission)":\s*"deny"/;

/**
 * Runs the command that was put into the settings of the client, through a shell as the client does, for a use that must be
 * denied: reading the keys of the gate.
 */
export async function probeHook(client: string, command: string, cwd: string, forbidden: string): Promise<Probed> {
  const child = spawn('/bin/sh', ['-c', command], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(forms[client]?.(forbidden, cwd) ?? {}));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const exitCode = await ended;
  if (exitCode === 0 && denial.test(stdout)) return { probe: 'live', said: '' };
  if (exitCode === 2 && stderr.startsWith('Sallyport: ')) return { probe: 'live', said: '' };
  if (exitCode === 2) return { probe: 'blocks without asking', said: stderr.trim() };
  return { probe: 'does not block', said: stderr.trim() };
}
