import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { readPlainRequest } from '../../packages/gateway/src/doors/transport/wire/plain-request.ts';
import { howMuch } from '../harness/how-much.ts';
import { requirement } from '../requirement.ts';
import { executeToolPath, openEchoDoors } from './echo-doors.ts';
import { openSocket } from './http-exchange.ts';

const body = '{"name":"t","inputJson":"{}"}';

function plain(
  more: { readonly path?: string; readonly body?: string; readonly lines?: readonly string[] } = {},
): string {
  const { path = executeToolPath, body: sent = body, lines = [] } = more;
  const all = [
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(sent)}`,
    ...lines,
  ];
  return `POST ${path} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${sent}`;
}

interface Understood {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** What node:http makes of the bytes: all requests in them, and whether anything was wrong or left over. */
async function understand(
  bytes: Buffer,
): Promise<{ readonly requests: readonly Understood[]; readonly isOdd: boolean }> {
  const requests: Understood[] = [];
  let isOdd = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({
        path: `${request.method} ${request.url}`,
        headers: { ...request.headers },
        body: Buffer.concat(chunks).toString('latin1'),
      });
      response.end();
    });
  });
  server.on('clientError', () => (isOdd = true));
  const [client, served] = duplexPair();
  served.on('error', () => {});
  client.on('error', () => {}).resume();
  server.emit('connection', served);
  client.write(bytes);
  // One that is whole is told at once; what is not would wait for more.
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
  client.destroy();
  served.destroy();
  server.closeAllConnections();
  return { requests, isOdd };
}

/** Requests that are nearly plain: pieces of such a request, changed, left out, doubled and moved. */
const pieces = fc.constantFrom(
  ...[
    'POST ',
    'GET ',
    executeToolPath,
    '/a',
    ' HTTP/1.1',
    ' HTTP/1.0',
    ' HTTP/2.0',
    '\r\n',
    '\n',
    '\r',
    '\r\n\r\n',
    ' ',
    '\t',
    ':',
    ': ',
  ],
  ...[
    'Host: localhost',
    'host: a',
    'Host:',
    'Content-Length: 2',
    'content-length: 29',
    'Content-Length: 02',
    'Content-Length: +2',
  ],
  ...[
    'Content-Length: 2, 2',
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
    'transfer-encoding: identity',
    'Content-Type: application/json',
  ],
  ...[
    'Connection: keep-alive',
    'Connection: close',
    'Connection: upgrade',
    'Upgrade: h2c',
    'Expect: 100-continue',
    'Authorization: Bearer x',
  ],
  ...[
    'X-Other: 1',
    'Trailer: a',
    ' folded',
    '{}',
    body,
    '0\r\n\r\n',
    '2\r\n{}\r\n0\r\n\r\n',
    '\u0000',
    '\u00e9',
    'Accept: */*',
  ],
);
const mutated = fc
  .record({
    base: fc.constantFrom(
      plain(),
      plain({ body: '{}' }),
      plain({ lines: ['Authorization: Bearer x', 'Connection: keep-alive'] }),
      plain({ body: '' }),
    ),
    cuts: fc.array(fc.record({ at: fc.nat(260), remove: fc.nat(12), insert: fc.option(pieces, { nil: '' }) }), {
      maxLength: 3,
    }),
    tail: fc.option(pieces, { nil: '' }),
  })
  .map(({ base, cuts, tail }) => {
    const text = cuts.reduce((now, { at, remove, insert }) => now.slice(0, at) + insert + now.slice(at + remove), base);
    return Buffer.from(text + tail, 'latin1');
  });
const assembled = fc.array(pieces, { maxLength: 24 }).map((parts) => Buffer.from(parts.join(''), 'latin1'));

test('what the lane takes for a whole request, node:http takes for the same one and no more', async () => {
  requirement('NFR-4');
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: mutated }, assembled), async (bytes) => {
      const read = readPlainRequest(bytes);
      if (read === undefined) return;
      taken++;
      const { requests, isOdd } = await understand(bytes);
      assert.equal(isOdd, false, 'HTTP finds something wrong');
      assert.deepEqual(requests, [
        { path: `POST ${read.path}`, headers: { ...read.headers }, body: read.body.toString('latin1') },
      ]);
    }),
    { numRuns: howMuch({ usually: 4000, long: 1_000_000 }) },
  );
  assert.ok(taken > 100, `only ${taken} requests were of the plain shape`);
});

test('a head that was read before is compared byte by byte', () => {
  const first = readPlainRequest(Buffer.from(plain({ lines: ['Authorization: Bearer a'] })));
  assert.ok(first);
  for (const lines of [
    ['Authorization: Bearer b'],
    ['Authorization: Bearer a', 'Transfer-Encoding: chunked'],
    ['authorization: Bearer a'],
  ]) {
    const bytes = Buffer.from(plain({ lines }));
    assert.deepEqual(readPlainRequest(bytes, first.head)?.headers, readPlainRequest(bytes)?.headers);
  }
  const longer = Buffer.concat([first.head.bytes, Buffer.from(`${body}x`)]);
  assert.equal(readPlainRequest(longer, first.head), undefined);
});

/** Reads answers from a raw socket, one after the other. */
class Answers {
  readonly #socket: Socket;
  #seen = '';

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => (this.#seen += chunk.toString('latin1')));
  }

  async next(): Promise<{ readonly status: number; readonly head: string; readonly body: string }> {
    for (;;) {
      const end = this.#seen.indexOf('\r\n\r\n');
      const head = end < 0 ? '' : this.#seen.slice(0, end);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? NaN);
      if (this.#seen.length >= end + 4 + length) {
        const text = this.#seen.slice(end + 4, end + 4 + length);
        this.#seen = this.#seen.slice(end + 4 + length);
        return { status: Number(head.split(' ')[1]), head, body: Buffer.from(text, 'latin1').toString() };
      }
      await once(this.#socket, 'data');
    }
  }
}

async function openLane(
  t: TestContext,
  ...doors: [Parameters<typeof openEchoDoors>[1]?, Parameters<typeof openEchoDoors>[2]?]
) {
  const { port, doors: opened } = await openEchoDoors(t, ...doors);
  const socket = await openSocket(port);
  t.after(() => socket.destroy());
  return { socket, answers: new Answers(socket), doors: opened };
}

test('plain calls, calls of any other shape, and plain ones again are all answered on one connection', async (t) => {
  const { socket, answers } = await openLane(t, ({ inputJson }) => inputJson);
  const ask = (input: string, lines: readonly string[] = []): void => {
    socket.write(plain({ body: JSON.stringify({ name: 't', inputJson: input }), lines }));
  };
  for (const input of ['1', '2', '"é"']) {
    ask(input);
    const { status, head, body: told } = await answers.next();
    assert.equal(status, 200);
    assert.match(
      head,
      /cache-control: no-store\r\nx-content-type-options: nosniff\r\nDate: .*GMT\r\nConnection: keep-alive/,
    );
    assert.equal((JSON.parse(told) as { success: { outputJson: string } }).success.outputJson, input);
  }
  for (const lines of [['X-Other: 1'], [], ['Connection: close']]) {
    ask('4', lines);
    assert.equal((await answers.next()).status, 200);
  }
  await once(socket, 'close');
});

test('requests that come in pieces, or several at once, are answered in order', async (t) => {
  const { socket, answers } = await openLane(t, async ({ inputJson }) => {
    if (inputJson === '1') await sleep(30);
    return inputJson;
  });
  const text = (input: string): string => plain({ body: JSON.stringify({ name: 't', inputJson: input }) });
  socket.write(text('1'));
  await sleep(5);
  socket.write(text('2') + text('3').slice(0, 40));
  await sleep(5);
  socket.write(text('3').slice(40));
  for (const input of ['1', '2', '3']) assert.match((await answers.next()).body, new RegExp(`"outputJson":"${input}"`));
});

test('a caller who hangs up ends the call', async (t) => {
  requirement('PIPE-7');
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const { socket } = await openLane(t, async (_request, peer) => {
    begun.resolve();
    await new Promise((resolve) => peer.signal.addEventListener('abort', resolve));
    ended.resolve();
    return '';
  });
  socket.write(plain());
  await begun.promise;
  socket.destroy();
  await ended.promise;
});

test('errors have the status and the form that they have everywhere, and the connection stays', async (t) => {
  const { socket, answers } = await openLane(t, ({ inputJson }) => inputJson);
  socket.write(plain({ body: '{"name": 1}' }));
  const { status, body: told } = await answers.next();
  assert.equal(status, 400);
  assert.equal((JSON.parse(told) as { code: string }).code, 'invalid_argument');
  socket.write(plain());
  assert.equal((await answers.next()).status, 200);
  for (const lines of [['Host: evil.example'], ['Origin: http://evil.example']]) {
    const { socket: other, answers: told2 } = await openLane(t);
    other.write(plain({ lines }));
    assert.ok((await told2.next()).status >= 400, lines.join());
  }
});

test('a connection on which nothing is asked is closed, and one whose call still runs is not', async (t) => {
  const limits = { idleTimeoutMs: 120 };
  const { socket, answers } = await openLane(t, async ({ inputJson }) => (await sleep(400), inputJson), { limits });
  socket.write(plain());
  assert.equal((await answers.next()).status, 200);
  await once(socket, 'close');
});

test('a stop lets the call that runs finish, and says that the connection ends', async (t) => {
  const begun = Promise.withResolvers<void>();
  const { socket, answers, doors } = await openLane(t, async () => {
    begun.resolve();
    await sleep(50);
    return 'done';
  });
  socket.write(plain());
  await begun.promise;
  const closed = doors.close(5000);
  const { head, body: told } = await answers.next();
  assert.match(told, /done/);
  assert.match(head, /connection: close/);
  await closed;
});

test('who does not take answers gets no further ones', async (t) => {
  let answered = 0;
  const large = 'x'.repeat(512 * 1024);
  const { socket } = await openLane(t, () => (answered++, large));
  socket.removeAllListeners('data');
  socket.pause();
  const send = async (): Promise<void> => {
    socket.write(plain());
    await sleep(2);
  };
  for (let times = 0; times < 100; times++) await send();
  // A few fit into the buffers of the two sockets.
  assert.ok(answered < 50, `${answered} answers were made`);
  const before = answered;
  socket.resume();
  while (answered === before) await send();
});
