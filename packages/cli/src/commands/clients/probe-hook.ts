import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** A probe asks for what no rule opens. */
export type Probe = 'live' | 'blocks without asking' | 'does not block';

/**
 * Runs the command that was put into the settings of the client, through a shell as the client does, for a use that must be
 * denied: reading the keys of the gate.
 */
export async function probeHook(
  command: string,
  cwd: string,
  forbidden: string,
): Promise<{ readonly probe: Probe; readonly said: string }> {
  const child = spawn('/bin/sh', ['-c', command], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined);
  child.stdin.end(
    JSON.stringify({
      ...{ session_id: 'sallyport-probe', tool_use_id: `probe-${Date.now()}`, cwd, hook_event_name: 'PreToolUse' },
      ...{ tool_name: 'Read', tool_input: { file_path: forbidden } },
    }),
  );
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const exitCode = await ended;
  if (exitCode === 0 && /"permissionDecision":\s*"deny"/.test(stdout)) return { probe: 'live', said: '' };
  if (exitCode === 2) return { probe: 'blocks without asking', said: stderr.trim() };
  return { probe: 'does not block', said: stderr.trim() };
}
