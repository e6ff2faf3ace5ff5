import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export const everything = join(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

/** The real server with every feature of the protocol, over HTTP. */
export async function startEverything(context: { readonly after: (end: () => void) => void }, port: number) {
  const child = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { PORT: String(port), PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  context.after(() => child.kill('SIGKILL'));
  let said = '';
  for await (const chunk of child.stderr) {
    said += String(chunk);
    if (/listening/i.test(said)) break;
  }
  return child;
}

export async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
