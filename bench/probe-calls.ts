// Makes one small call after the other on a thread of its own. Tells when it is ready, and how long each took when it is
// asked to end. A thread that also sends large files would measure its own pauses.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export interface ProbeOptions {
  readonly address: string;
  readonly token: string;
  readonly path: string;
  readonly everyMs: number;
}

if (parentPort === null) throw new Error('others call from a worker thread');
const port = parentPort;
const post = (message: unknown): void => port.postMessage(message);
const { address, token, path, everyMs } = workerData as ProbeOptions;
const agent = new Agent({ keepAlive: true });
await read(0);
post('ready');
const waits: number[] = [];
let isDone = false;
port.once('message', () => (isDone = true));
for (let offset = 1; !isDone; offset++) {
  const startedAtMs = performance.now();
  await read(offset);
  waits.push(performance.now() - startedAtMs);
  await sleep(everyMs);
}
agent.destroy();
post(waits);

function read(offset: number): Promise<void> {
  const body = JSON.stringify({ name: 'files.read', inputJson: JSON.stringify({ path, offset }) });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    authorization: `Bearer ${token}`,
  };
  const url = new URL('/sallyport.v1.ToolService/ExecuteTool', address);
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`a call of another agent was answered with ${response.statusCode}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
