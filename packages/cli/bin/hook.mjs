// `sallyport hook CLIENT`: a coding agent starts it before and after it uses a tool of its own, and does what it says.
// It loads nothing of the command line, and whatever goes wrong before a use, it blocks: exit code 2 means that to every
// client. Of what is only told, nothing can be blocked, and a client that is not let stop would go on for ever.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Clients give up after ten minutes, and some then go on with the use: this answers before that, whatever happens. */
const patienceMs = 590_000;
/** The gate gives a sign of life every few seconds while a person is asked. One that hangs gives none. */
const quietMs = 20_000;
const mostBytes = 64 * 1024 * 1024;

const home = resolve(process.env.SALLYPORT_HOME || join(homedir(), '.sallyport'));

let isOnlyTold = false;
// Clients go on at any other code: an error that nobody catches, and a wait that never ends, block too.
process.exitCode = 2;
process.on('uncaughtException', (error) => {
  tell(error);
  process.exit();
});

setTimeout(() => {
  tell(new Error('the gate did not answer in time.'));
  process.exit();
}, patienceMs).unref();

/** Events after a use, and at the end of a turn, as the clients spell them. */
const told =
  /^(Post|Stop|SubagentStop|SessionEnd|After|post|after|stop|sessionEnd|subagentStop|tool\.execute\.after|session\.)/;

try {
  const client = process.argv[3] ?? '';
  if (!/^[a-z][a-z0-9-]*$/.test(client)) throw new Error('Say which client asks: sallyport hook claude-code');
  const payload = await readInput();
  const event = readEvent(payload);
  const name = event.hook_event_name ?? event.agent_action_name;
  isOnlyTold = typeof name === 'string' && told.test(name);
  const connection = readConnection(client);
  const { status, body } = await ask(`/v1/hooks/${client}`, findToken(connection, event), payload, connection.socket, {
    folder: encodeURIComponent(process.cwd()),
    home: encodeURIComponent(homedir()),
    'own-server': await findOwnServer(client, event, connection),
  });
  const reply = readReply(status, body);
  if (reply.output !== undefined) process.stdout.write(`${JSON.stringify(reply.output)}\n`);
  if (reply.message) process.stderr.write(`${reply.message}\n`);
  process.exitCode = reply.exitCode;
} catch (error) {
  tell(error);
}

function tell(error) {
  process.stderr.write(`${isOnlyTold ? 'Sallyport' : 'Sallyport blocks this'}: ${error.message}\n`);
  process.exitCode = isOnlyTold ? 1 : 2;
}

function readInput() {
  return new Promise((done, fail) => {
    const chunks = [];
    let size = 0;
    process.stdin.on('data', (chunk) => {
      size += chunk.length;
      if (size > mostBytes) fail(new Error('the hook got more than it can read.'));
      else chunks.push(chunk);
    });
    process.stdin.on('end', () => done(Buffer.concat(chunks)));
    process.stdin.on('error', fail);
  });
}

function readEvent(payload) {
  try {
    const event = JSON.parse(payload.toString());
    if (typeof event === 'object' && event !== null) return event;
  } catch {
    // Said below.
  }
  throw new Error('the client sent no JSON object, so it cannot be told what it is about to do.');
}

/** The session of the project in which the client works. */
function findToken({ token, sessions }, { cwd: said, workspace_roots: roots }) {
  if (token !== undefined) return token;
  const cwd = said ?? roots?.[0] ?? process.cwd();
  if (typeof cwd !== 'string') throw new Error('the hook does not say in which folder the client works.');
  const holds = ({ root }) => cwd === root || cwd.startsWith(root === '/' ? root : `${root}/`);
  const [nearest] = sessions.filter(holds).sort((one, other) => other.root.length - one.root.length);
  if (nearest === undefined) {
    throw new Error(`${cwd} is in no project that is connected. Run \`sallyport init\` there.`);
  }
  return nearest.token;
}

function readConnection(client) {
  if (process.env.SALLYPORT_TOKEN) return { token: process.env.SALLYPORT_TOKEN };
  try {
    return JSON.parse(readFileSync(join(home, 'clients', `${client}.json`), 'utf8'));
  } catch (error) {
    const reason = `${client} is not connected (${error.code ?? error.message}). Run \`sallyport init\`.`;
    throw new Error(reason, { cause: error });
  }
}

/** Looked up only for servers of that name, which are rare. */
async function findOwnServer(client, event, { server }) {
  if (server === undefined || !JSON.stringify(event).includes('sallyport')) return 'no';
  const { isOwnServer } = await import('./own-server.mjs');
  return isOwnServer(client, event, server) ? 'yes' : 'no';
}

/** One request in the plainest form of HTTP. */
function ask(path, token, body, address = join(home, 'run', 'agent', 'sallyport.sock'), known = {}) {
  return new Promise((done, fail) => {
    const socket = connect(address);
    const chunks = [];
    socket.setTimeout(quietMs, () => {
      socket.destroy(new Error('the gate hangs: it gives no sign of life. Start it again with `sallyport restart`.'));
    });
    socket.on('connect', () => {
      const facts = Object.entries(known).map(([name, value]) => `sallyport-${name}: ${value}\r\n`);
      const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n${traceHeader()}${facts.join('')}sallyport-signs: yes\r\nconnection: close\r\n\r\n`;
      socket.write(head);
      socket.write(body);
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => {
      // A promise takes what it throws, which nobody else would catch.
      done(Promise.resolve(Buffer.concat(chunks)).then(readAnswer));
    });
    socket.on('error', (error) => {
      const isDown = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      const reason = isDown ? 'the gate does not run. Start it with `sallyport up`, then try again.' : error.message;
      fail(new Error(reason, { cause: error }));
    });
  });
}

/** The span that the client works in, if it says so to what it starts. */
function traceHeader() {
  const { TRACEPARENT: traceparent = '' } = process.env;
  return /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent)
    ? `traceparent: ${traceparent}\r\n`
    : '';
}

function readAnswer(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  // A sign of life, before the answer.
  if (bytes.toString('latin1', 0, 13).startsWith('HTTP/1.1 102 ')) return readAnswer(bytes.subarray(end + 4));
  const head = bytes.toString('latin1', 0, Math.max(0, end));
  const length = Number(/^content-length: *(\d+)\r?$/im.exec(head)?.[1]);
  const body = bytes.subarray(end + 4);
  if (end < 0 || body.length !== length) throw new Error('the connection was lost before the answer was complete.');
  return { status: Number(head.slice(9, 12)), body: JSON.parse(body.toString()) };
}

function readReply(status, body) {
  if (status !== 200) throw new Error(typeof body.message === 'string' ? body.message : `the gate answered ${status}.`);
  if (body.exitCode !== 0 && body.exitCode !== 2) throw new Error('the gate gave no answer that can be read.');
  return body;
}
