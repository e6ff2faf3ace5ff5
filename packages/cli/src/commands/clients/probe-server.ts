import { spawn } from 'node:child_process';
import { readLines } from '../../terminal/read-lines.ts';
import type { Probed } from './probe-hook.ts';

const patienceMs = 60_000;

interface Launch {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts our MCP server as the client does, and calls what must be denied: reading the keys of the gate. */
export async function probeServer({ words, environment }: Launch, cwd: string, forbidden: string): Promise<Probed> {
  const [program = '', ...args] = words;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...environment }, stdio: ['pipe', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  let said = '';
  child.on('error', (error) => (said = error.message));
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(0, 2000)));
  child.stdin.on('error', () => undefined);
  const clientInfo = { name: 'sallyport-probe', version: '1' };
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const messages = [
    { id: 1, method: 'initialize', params: initialize },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'files_read', arguments: { path: forbidden } } },
  ];
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const [first = {}, ...others] = messages;
  send(first);
  try {
    for await (const line of readLines(child.stdout)) {
      const { id, result } = JSON.parse(line) as { id?: unknown; result?: { isError?: boolean } };
      if (id === 1) for (const message of others) send(message);
      if (id === 2) return { probe: result?.isError === true ? 'live' : 'does not block', said: '' };
    }
  } finally {
    clearTimeout(timer);
    child.kill();
  }
  return { probe: 'blocks without asking', said: said.trim() || 'It did not answer.' };
}
