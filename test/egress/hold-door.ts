import { createServer } from 'node:net';
import { NamespaceDoor } from '../../packages/sandbox/src/egress/namespace-door.ts';
import { egressPort } from '../../packages/sandbox/src/egress/open-egress.ts';

/** Opens a socket inside a process, says so, and waits to be killed. Arguments: process id, network namespace. */
const [pid, networkNamespace] = process.argv.slice(2).map(Number);
try {
  const door = new NamespaceDoor({ port: egressPort });
  createServer().listen(await door.bind({ pid: pid ?? 0, networkNamespace: networkNamespace ?? 0 }));
  process.stdout.write('open\n');
} catch (error) {
  const { code, remedy } = error as { code?: string; remedy?: string };
  process.stdout.write(`${JSON.stringify({ code, remedy })}\n`);
}
