// A client in a process of its own: makes as many calls as it is told, and says how long that took.
// stream-client.ts echo SOCKET | gate SOCKET TOKEN; then, on standard input, lines with a number of calls.
import { createInterface } from 'node:readline';
import { Client, credentials } from '@grpc/grpc-js';
import { createClient } from '@sallyport/sdk/client';

const inFlight = 32;
const [arm, socket = '', token = ''] = process.argv.slice(2);
const call = arm === 'echo' ? echoClient() : gateClient();

/** An empty unary call of gRPC. */
function echoClient(): () => Promise<unknown> {
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  const identity = (value: Buffer): Buffer => value;
  const empty = Buffer.alloc(0);
  return () =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest('/bench.Echo/Echo', identity, identity, empty, (error, value) => {
        if (error === null) resolve(value);
        else reject(error);
      });
    });
}

/** A governed read over the stream, which is what the SDK does by itself. */
function gateClient(): () => Promise<unknown> {
  const client = createClient({ socketPath: socket, token });
  return () => client.callTool('files.read', { path: 'kilobyte.txt' });
}

async function run(count: number): Promise<void> {
  let left = count;
  const work = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, work));
}

for await (const line of createInterface({ input: process.stdin })) {
  const count = Number(line);
  const from = performance.now();
  await run(count);
  process.stdout.write(`${(count / (performance.now() - from)) * 1000}\n`);
}
process.exit(0);
