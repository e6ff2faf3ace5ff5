import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const revision = '2025-11-25';

/** A server of MCP on HTTP, in a session that stands. */
export interface McpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Repeats `text`. */
  readonly tool: string;
}

/** Opens a session as an older client does, which every server and proxy still takes. */
export async function openMcpSession(url: string, tool: string, more: Record<string, string> = {}): Promise<McpTarget> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...more };
  const clientInfo = { name: 'bench', version: '1' };
  const opened = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
      params: { protocolVersion: revision, capabilities: {}, clientInfo },
    }),
  });
  const text = await opened.text();
  if (!opened.ok) throw new Error(`${url} opened no session: ${text}`);
  const session = opened.headers.get('mcp-session-id');
  const within = {
    ...headers,
    'mcp-protocol-version': revision,
    ...(session === null ? {} : { 'mcp-session-id': session }),
  };
  const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await (await fetch(url, { method: 'POST', headers: within, body: initialized })).text();
  return { url, headers: within, tool };
}

let lastId = 0;

/** Calls a second. Each call has its own id and text, and is checked for its answer. */
export async function loadMcp({ url, headers, tool }: McpTarget, inFlight: number, seconds: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-load-'));
  const script = join(folder, 'calls.lua');
  // Ids of one session are used once.
  lastId += 1_000_000;
  writeFileSync(script, writeScript(headers, tool, lastId));
  const args = [
    '--threads=1',
    `--connections=${inFlight}`,
    `--duration=${Math.max(1, Math.round(seconds))}s`,
    '-s',
    script,
    url,
  ];
  try {
    const { stdout } = await run('wrk', args, { maxBuffer: 1 << 24 });
    const [, requests, duration] = /(\d+) requests in ([\d.]+)s/.exec(stdout) ?? [];
    if (requests === undefined || duration === undefined || stdout.includes('wrong answer')) throw new Error(stdout);
    return Number(requests) / Number(duration);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeScript(headers: McpTarget['headers'], tool: string, firstId: number): string {
  const lines = Object.entries(headers).map(([name, value]) => `headers["${name}"] = "${value}"`);
  const body = `'{"jsonrpc":"2.0","id":' .. n .. ',"method":"tools/call","params":{"name":"${tool}","arguments":{"text":"this is ' .. n .. '"}}}'`;
  return `local n, headers = ${firstId}, {}
${lines.join('\n')}
request = function()
  n = n + 1
  return wrk.format("POST", nil, headers, ${body})
end
response = function(status, _, body)
  if status ~= 200 or not string.find(body, "this is", 1, true) then print("wrong answer", status, body) end
end
`;
}
