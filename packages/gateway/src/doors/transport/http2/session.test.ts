import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientPreface, errorCodes, frameFlags, frameTypes, settingIds } from './frames.ts';
import { echo, head, openClient, openServer } from './session.test-kit.ts';
import type { Http2Stream } from './stream.ts';

const { data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation } = frameTypes;
const { endHeaders, endStream, padded } = frameFlags;

async function readAll(stream: ClientHttp2Stream): Promise<{ body: Buffer; trailers: Record<string, unknown> }> {
  const chunks: Buffer[] = [];
  let trailers = {};
  stream.on('trailers', (given) => (trailers = given));
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'end');
  return { body: Buffer.concat(chunks), trailers };
}

function ask(client: ClientHttp2Session, body: Buffer, more = {}): ReturnType<typeof readAll> {
  const stream = client.request({ ':method': 'POST', ':path': '/', ...more });
  stream.on('error', () => {});
  stream.end(body);
  return readAll(stream);
}

describe('Http2Session', () => {
  it('answers bodies of every size, many at a time, beyond every window', async (test) => {
    const { path } = await openServer(test);
    const client = openClient(test, path);
    const sizes = [0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 300_000, 3_000_000];
    await Promise.all(
      sizes
        .flatMap((size) => [size, size])
        .map(async (size) => {
          const sent = randomBytes(size);
          const { body, trailers } = await ask(client, sent);
          assert.ok(body.equals(sent));
          assert.equal(trailers['x-bytes'], String(size));
        }),
    );
    // The windows of the connection are as wide as before.
    for (let round = 0; round < 20; round++) await ask(client, randomBytes(200_000));
  });

  it('gives a short request whole, at once', async (test) => {
    const { path } = await openServer(test, (stream) => {
      const body = stream.takeWhole();
      stream.respond(head);
      stream.end(Buffer.from(body === undefined ? 'in pieces' : `whole: ${body.toString()}`));
    });
    const client = openClient(test, path);
    await once(client, 'remoteSettings');
    assert.equal(String((await ask(client, Buffer.from('hello'))).body), 'whole: hello');
  });

  it('holds back a sender while nobody reads, and other streams go on meanwhile', async (test) => {
    let held: Http2Stream | undefined;
    const { path } = await openServer(test, (stream) => {
      if (stream.url === '/held') held = stream;
      else echo(stream);
    });
    const client = openClient(test, path);
    const slow = client.request({ ':method': 'POST', ':path': '/held' });
    slow.write(Buffer.alloc(1_000_000));
    for (let round = 0; round < 5; round++)
      assert.equal((await ask(client, Buffer.alloc(100_000))).body.length, 100_000);
    let came = 0;
    held?.on('data', ({ length }) => (came += length));
    held?.pause();
    held?.on('end', () => {
      held?.respond(head);
      held?.end();
    });
    assert.equal(came, 0);
    held?.resume();
    slow.end();
    await readAll(slow);
    assert.equal(came, 1_000_000);
  });

  it('waits for a reader who does not read, and tells the writer when he does', async (test) => {
    let drains = 0;
    const { path } = await openServer(test, (stream) => {
      stream.respond(head);
      let left = 50;
      const write = (): void => {
        while (left-- > 0) {
          if (stream.write(Buffer.alloc(100_000))) continue;
          stream.once('drain', () => {
            drains++;
            write();
          });
          return;
        }
        stream.end();
      };
      write();
    });
    const client = openClient(test, path);
    const { body } = await ask(client, Buffer.alloc(0));
    assert.equal(body.length, 5_000_000);
    assert.ok(drains > 0);
  });

  it('tells of a caller who breaks off, and of one who is gone', async (test) => {
    const ends: string[] = [];
    const { path } = await openServer(test, (stream) => {
      stream.on('end', () => ends.push('end'));
      stream.on('close', () => ends.push(stream.aborted ? 'aborted' : 'close'));
      stream.resume();
    });
    const client = openClient(test, path);
    const first = client.request({ ':method': 'POST', ':path': '/' });
    first.on('error', () => {});
    first.write('some');
    await once(first, 'ready');
    first.close(errorCodes.cancel);
    const second = client.request({ ':method': 'POST', ':path': '/' });
    second.on('error', () => {});
    second.write('some');
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.destroy();
    for (let waited = 0; ends.length < 2 && waited < 100; waited++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.deepEqual(ends, ['aborted', 'aborted']);
  });

  it('finishes what is open when it is closed, and takes nothing more', async (test) => {
    let open: Http2Stream | undefined;
    const { path, sessions } = await openServer(test, (stream) => void (open = stream));
    const client = openClient(test, path);
    const asked = ask(client, Buffer.from('x'));
    while (open === undefined) await new Promise(setImmediate);
    sessions[0]?.close();
    await once(client, 'goaway');
    open.respond(head);
    open.end(Buffer.from('done'));
    assert.equal(String((await asked).body), 'done');
    await once(client, 'close');
  });

  it('refuses more streams than it allows, and those it allows are answered', async (test) => {
    const waiting: Http2Stream[] = [];
    const { path } = await openServer(test, (stream) => void waiting.push(stream));
    const raw = await openRaw(test, path);
    for (let at = 0; at < 110; at++) raw.send(frameTypes.headers, frameFlags.endHeaders, 1 + 2 * at, requestBlock());
    await raw.ping();
    assert.equal(waiting.length, 100);
    const refused = raw.frames.filter(({ type }) => type === frameTypes.reset);
    assert.equal(refused.length, 10);
    assert.ok(refused.every(({ payload }) => payload.readUInt32BE() === errorCodes.refused));
  });
});

describe('a peer that reads nothing', () => {
  it('makes the server keep one copy of an answer, not one for each stream', async (test) => {
    const answer = Buffer.alloc(1_000_000);
    let served = 0;
    const { path } = await openServer(test, (stream) => {
      served++;
      stream.respond(head);
      stream.end(answer);
    });
    const raw = await openRaw(test, path);
    raw.send(settings, 0, 0, setting(settingIds.windowBytes, 2 ** 31 - 1));
    raw.send(windowUpdate, 0, 0, number(2 ** 31 - 1 - 65_535));
    await raw.ping();
    raw.socket.pause();
    const before = process.memoryUsage().arrayBuffers;
    for (let at = 0; at < 90; at++) raw.send(headers, endHeaders | endStream, 1 + 2 * at, requestBlock());
    while (served < 90) await new Promise(setImmediate);
    assert.ok(process.memoryUsage().arrayBuffers - before < 5_000_000);
    raw.socket.resume();
    await raw.ping();
    const sent = () =>
      raw.frames.filter(({ type }) => type === data).reduce((sum, { payload }) => sum + payload.length, 0);
    while (sent() < 90_000_000) await new Promise(setImmediate);
  });

  it('is not read from any more when it leaves small answers lying', async (test) => {
    let served = 0;
    const { path } = await openServer(test, (stream) => {
      served++;
      stream.respond(head);
      stream.end(Buffer.alloc(60_000));
    });
    const raw = await openRaw(test, path);
    raw.send(settings, 0, 0, setting(settingIds.windowBytes, 2 ** 31 - 1));
    raw.send(windowUpdate, 0, 0, number(2 ** 31 - 1 - 65_535));
    await raw.ping();
    raw.socket.pause();
    for (let at = 0; at < 5000; at++) raw.send(headers, endHeaders | endStream, 1 + 2 * at, requestBlock());
    let before = -1;
    while (before !== served) {
      before = served;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(served < 200, `${served} requests were taken`);
  });
});

interface RawFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** A peer that sends whatever frames it likes. */
async function openRaw(test: TestContext, path: string) {
  const socket = connect(path);
  test.after(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  const frames: RawFrame[] = [];
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      const payload = rest.subarray(9, end);
      frames.push({ type: rest[3] ?? 0, flags: rest[4] ?? 0, streamId: rest.readUInt32BE(5), payload });
      rest = rest.subarray(end);
    }
  });
  const send = (type: number, flags: number, streamId: number, payload: Buffer = Buffer.alloc(0)): void => {
    const frame = Buffer.alloc(9 + payload.length);
    frame.writeUIntBE(payload.length, 0, 3);
    frame[3] = type;
    frame[4] = flags;
    frame.writeUInt32BE(streamId, 5);
    payload.copy(frame, 9);
    socket.write(frame);
  };
  socket.write(clientPreface);
  send(frameTypes.settings, 0, 0);
  let pings = 0;
  return {
    socket,
    frames,
    send,
    /** Resolves when all before it was looked at. Rejects when the connection ends instead. */
    ping: async (): Promise<void> => {
      const wanted = ++pings;
      send(frameTypes.ping, 0, 0, Buffer.alloc(8));
      while (frames.filter(({ type }) => type === frameTypes.ping).length < wanted) {
        if (socket.destroyed) throw new Error('the connection has ended');
        await new Promise(setImmediate);
      }
    },
    /** The code with which the connection was ended. */
    goodbye: async (): Promise<number> => {
      if (!socket.destroyed) await once(socket, 'close');
      const last = frames.findLast(({ type }) => type === frameTypes.goAway);
      return last === undefined ? -1 : last.payload.readUInt32BE(4);
    },
    resetOf: (streamId: number): number => {
      const found = frames.find((frame) => frame.type === reset && frame.streamId === streamId);
      return found === undefined ? -1 : found.payload.readUInt32BE();
    },
  };
}

type Raw = Awaited<ReturnType<typeof openRaw>>;

/** Literals, which leave the table alone. */
function requestBlock(fields: Readonly<Record<string, string>> = {}): Buffer {
  const all = { ':method': 'POST', ':scheme': 'http', ':path': '/', ':authority': 'localhost', ...fields };
  return literals(all);
}

/** Fields of which each is shorter than 127 bytes. */
function literals(fields: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  return Buffer.concat(Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function setting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id);
  bytes.writeUInt32BE(value, 2);
  return bytes;
}

/** What costs a peer its connection, and the code it is told. */
const lost: readonly [what: string, code: number, misbehave: (raw: Raw) => void][] = [
  ['a frame that is too long', errorCodes.frameSize, (raw) => raw.send(data, 0, 1, Buffer.alloc(16_385))],
  ['DATA of a stream that is not open', errorCodes.protocol, (raw) => raw.send(data, 0, 1, Buffer.alloc(1))],
  ['DATA without a stream', errorCodes.protocol, (raw) => raw.send(data, 0, 0, Buffer.alloc(1))],
  ['a stream with an even number', errorCodes.protocol, (raw) => raw.send(headers, endHeaders, 2, requestBlock())],
  ['HEADERS without a stream', errorCodes.protocol, (raw) => raw.send(headers, endHeaders, 0, requestBlock())],
  [
    'a header block that is cut into',
    errorCodes.protocol,
    (raw) => {
      raw.send(headers, 0, 1, requestBlock());
      raw.send(ping, 0, 0, Buffer.alloc(8));
    },
  ],
  [
    'a header block that goes on for another stream',
    errorCodes.protocol,
    (raw) => {
      raw.send(headers, 0, 1, requestBlock());
      raw.send(continuation, endHeaders, 3);
    },
  ],
  ['a continuation of nothing', errorCodes.protocol, (raw) => raw.send(continuation, endHeaders, 1)],
  [
    'a header block without end',
    errorCodes.enhanceYourCalm,
    (raw) => {
      raw.send(headers, 0, 1, requestBlock());
      for (let at = 0; at < 20; at++) raw.send(continuation, 0, 1);
    },
  ],
  [
    'a header block that cannot be read',
    errorCodes.compression,
    (raw) => raw.send(headers, endHeaders, 1, number(0xffff_ffff)),
  ],
  [
    'padding beyond the frame',
    errorCodes.protocol,
    (raw) => raw.send(headers, endHeaders | padded, 1, Buffer.from([9, 1, 2])),
  ],
  ['a promise', errorCodes.protocol, (raw) => raw.send(pushPromise, endHeaders, 1, number(2))],
  ['a ping of another size', errorCodes.frameSize, (raw) => raw.send(ping, 0, 0, Buffer.alloc(7))],
  ['a ping of a stream', errorCodes.protocol, (raw) => raw.send(ping, 0, 1, Buffer.alloc(8))],
  ['settings of a stream', errorCodes.protocol, (raw) => raw.send(settings, 0, 1)],
  ['settings that are not whole', errorCodes.frameSize, (raw) => raw.send(settings, 0, 0, Buffer.alloc(5))],
  ['settings that answer with something', errorCodes.frameSize, (raw) => raw.send(settings, 1, 0, Buffer.alloc(6))],
  [
    'a window that is too wide from the start',
    errorCodes.flowControl,
    (raw) => raw.send(settings, 0, 0, setting(settingIds.windowBytes, 2 ** 31)),
  ],
  [
    'frames that are too short',
    errorCodes.protocol,
    (raw) => raw.send(settings, 0, 0, setting(settingIds.frameBytes, 16_383)),
  ],
  ['a window of nothing', errorCodes.protocol, (raw) => raw.send(windowUpdate, 0, 0, number(0))],
  ['a window that overflows', errorCodes.flowControl, (raw) => raw.send(windowUpdate, 0, 0, number(2 ** 31 - 1))],
  ['a window of a stream that is not open', errorCodes.protocol, (raw) => raw.send(windowUpdate, 0, 1, number(1))],
  ['a window of another size', errorCodes.frameSize, (raw) => raw.send(windowUpdate, 0, 0, Buffer.alloc(3))],
  ['a reset of a stream that is not open', errorCodes.protocol, (raw) => raw.send(reset, 0, 1, number(8))],
  ['a reset of another size', errorCodes.frameSize, (raw) => raw.send(reset, 0, 1, Buffer.alloc(3))],
  ['a priority of another size', errorCodes.frameSize, (raw) => raw.send(priority, 0, 1, Buffer.alloc(4))],
  ['a goodbye of a stream', errorCodes.protocol, (raw) => raw.send(goAway, 0, 1, Buffer.alloc(8))],
  [
    'bytes beyond the window of the connection',
    errorCodes.flowControl,
    (raw) => {
      for (let stream = 1; stream < 20; stream += 2) {
        raw.send(headers, endHeaders, stream, requestBlock());
        for (let at = 0; at < 3; at++) raw.send(data, 0, stream, Buffer.alloc(16_384));
      }
    },
  ],
  [
    'pings without end',
    errorCodes.enhanceYourCalm,
    (raw) => {
      for (let at = 0; at < 3000; at++) raw.send(ping, 0, 0, Buffer.alloc(8));
    },
  ],
  [
    'settings without end',
    errorCodes.enhanceYourCalm,
    (raw) => {
      for (let at = 0; at < 3000; at++) raw.send(settings, 0, 0);
    },
  ],
  [
    'streams that are broken off at once, without end',
    errorCodes.enhanceYourCalm,
    (raw) => {
      for (let at = 0; at < 3000; at++) {
        raw.send(headers, endHeaders, 1 + 2 * at, requestBlock());
        raw.send(reset, 0, 1 + 2 * at, number(8));
      }
    },
  ],
  [
    'streams that it makes the server break off, without end',
    errorCodes.enhanceYourCalm,
    (raw) => {
      for (let at = 0; at < 3000; at++) {
        raw.send(headers, endHeaders, 1 + 2 * at, requestBlock());
        raw.send(windowUpdate, 0, 1 + 2 * at, number(0));
      }
    },
  ],
  [
    'requests without the body that they claim, without end',
    errorCodes.enhanceYourCalm,
    (raw) => {
      const block = requestBlock({ 'content-length': '3' });
      for (let at = 0; at < 3000; at++) raw.send(headers, endHeaders | endStream, 1 + 2 * at, block);
    },
  ],
  [
    'empty frames without end',
    errorCodes.enhanceYourCalm,
    (raw) => {
      raw.send(headers, endHeaders, 1, requestBlock());
      for (let at = 0; at < 3000; at++) raw.send(data, 0, 1);
    },
  ],
  [
    'frames of unknown types without end',
    errorCodes.enhanceYourCalm,
    (raw) => {
      for (let at = 0; at < 3000; at++) raw.send(99, 0, 0);
    },
  ],
];

/** What costs a peer one stream: others go on. */
const broken: readonly [what: string, code: number, misbehave: (raw: Raw) => void][] = [
  [
    'a head with an upper-case name',
    errorCodes.protocol,
    (raw) => raw.send(headers, endHeaders, 1, Buffer.concat([requestBlock(), Buffer.from('\0\x01A\x01b')])),
  ],
  [
    'a head without a path',
    errorCodes.protocol,
    (raw) => raw.send(headers, endHeaders, 1, literals({ ':method': 'GET', ':scheme': 'http' })),
  ],
  [
    'a body longer than it was said to be',
    errorCodes.protocol,
    (raw) => {
      raw.send(headers, endHeaders, 1, requestBlock({ 'content-length': '3' }));
      raw.send(data, 0, 1, Buffer.alloc(4));
    },
  ],
  [
    'a body shorter than it was said to be',
    errorCodes.protocol,
    (raw) => {
      raw.send(headers, endHeaders, 1, requestBlock({ 'content-length': '3' }));
      raw.send(data, endStream, 1, Buffer.alloc(2));
    },
  ],
  [
    'no body where one was said to be',
    errorCodes.protocol,
    (raw) => raw.send(headers, endHeaders | endStream, 1, requestBlock({ 'content-length': '3' })),
  ],
  [
    'trailers that do not end the request',
    errorCodes.protocol,
    (raw) => {
      raw.send(headers, endHeaders, 1, requestBlock());
      raw.send(headers, endHeaders, 1, literals({ 'x-a': 'b' }));
    },
  ],
  [
    'a body that goes on behind its end',
    errorCodes.streamClosed,
    (raw) => {
      raw.send(headers, endHeaders | endStream, 1, requestBlock());
      raw.send(data, 0, 1, Buffer.alloc(1));
    },
  ],
  [
    'more bytes than the stream takes',
    errorCodes.flowControl,
    (raw) => {
      raw.send(headers, endHeaders, 1, requestBlock());
      for (let at = 0; at < 5; at++) raw.send(data, 0, 1, Buffer.alloc(16_000));
    },
  ],
  [
    'a window of a stream that overflows',
    errorCodes.flowControl,
    (raw) => {
      raw.send(headers, endHeaders, 1, requestBlock());
      raw.send(windowUpdate, 0, 1, number(2 ** 31 - 1));
    },
  ],
];

describe('a peer that breaks the rules of HTTP/2', () => {
  for (const [what, code, misbehave] of lost) {
    it(`loses the connection for ${what}`, async (test) => {
      const { path } = await openServer(test, () => {});
      const raw = await openRaw(test, path);
      misbehave(raw);
      assert.equal(await raw.goodbye(), code);
    });
  }

  for (const [what, code, misbehave] of broken) {
    it(`loses one stream for ${what}`, async (test) => {
      const { path } = await openServer(test, (stream) => (stream.url === '/echo' ? echo(stream) : undefined));
      const raw = await openRaw(test, path);
      misbehave(raw);
      raw.send(headers, endHeaders | endStream, 101, requestBlock({ ':path': '/echo' }));
      await raw.ping();
      assert.equal(raw.resetOf(1), code);
      assert.ok(
        raw.frames.some(({ type, streamId }) => type === headers && streamId === 101),
        'another one is served',
      );
    });
  }

  it('may send for a stream that was broken off by this end, for a while', async (test) => {
    const { path } = await openServer(test, (stream) => stream.close());
    const raw = await openRaw(test, path);
    raw.send(headers, endHeaders, 1, requestBlock());
    for (let at = 0; at < 100; at++) raw.send(data, 0, 1, Buffer.alloc(10_000));
    await raw.ping();
    assert.equal(raw.frames.filter(({ type }) => type === reset).length, 1);
    assert.ok(
      raw.frames.some(({ type, streamId }) => type === windowUpdate && streamId === 0),
      'its bytes are given back',
    );
  });

  it('makes the server keep the bytes that nobody has read, and not all that came with them', async (test) => {
    const held: Http2Stream[] = [];
    const { path } = await openServer(test, (stream) => held.push(stream));
    const raw = await openRaw(test, path);
    raw.send(headers, endHeaders, 1, requestBlock());
    await raw.ping();
    raw.socket.cork();
    // To a request that is known, and with one that begins.
    raw.send(data, 0, 1, Buffer.from([1]));
    raw.send(headers, endHeaders, 3, requestBlock());
    raw.send(data, 0, 3, Buffer.from([1]));
    for (let at = 0; at < 1000; at++) raw.send(windowUpdate, 0, 0, number(1));
    raw.socket.uncork();
    await raw.ping();
    for (const id of [1, 3]) raw.send(data, endStream, id);
    await raw.ping();
    for (const stream of held) {
      const body = stream.takeWhole();
      assert.equal(body?.length, 1);
      assert.ok(body.buffer.byteLength <= 4096, `${body.buffer.byteLength} bytes`);
    }
  });

  it('gets the bytes of many small windows in one frame', async (test) => {
    const { path } = await openServer(test, (stream) => {
      stream.respond(head);
      stream.end(Buffer.alloc(200_000));
    });
    const raw = await openRaw(test, path);
    raw.send(settings, 0, 0, setting(settingIds.windowBytes, 200_000));
    raw.send(headers, endHeaders | endStream, 1, requestBlock());
    await raw.ping();
    const before = raw.frames.length;
    raw.socket.cork();
    for (let at = 0; at < 100; at++) raw.send(windowUpdate, 0, 0, number(1));
    raw.socket.uncork();
    await raw.ping();
    const sent = raw.frames.slice(before).filter(({ type }) => type === data);
    assert.deepEqual(
      sent.map(({ payload }) => payload.length),
      [100],
    );
  });

  it('gets the whole of the last answer, however late it reads', async (test) => {
    const size = 250_000;
    const { path, sessions } = await openServer(test, (stream) => {
      stream.respond(head);
      stream.end(Buffer.alloc(size));
    });
    const raw = await openRaw(test, path);
    raw.send(settings, 0, 0, setting(settingIds.windowBytes, 2 * size));
    raw.send(windowUpdate, 0, 0, number(2 * size));
    await raw.ping();
    raw.socket.pause();
    raw.send(headers, endHeaders | endStream, 1, requestBlock());
    await sleep(100);
    sessions[0]?.close();
    // Longer than somebody gets who is told that he misbehaved.
    await sleep(1500);
    raw.socket.resume();
    assert.equal(await raw.goodbye(), errorCodes.none);
    const sent = raw.frames.filter(({ type }) => type === data);
    assert.equal(
      sent.reduce((sum, { payload }) => sum + payload.length, 0),
      size,
    );
  });

  it('may ping once for each answer, as clients do that measure the line', async (test) => {
    const { path } = await openServer(test);
    const raw = await openRaw(test, path);
    for (let id = 1; id < 2400; id += 2) {
      raw.send(headers, endHeaders | endStream, id, requestBlock());
      while (raw.frames.at(-1)?.streamId !== id) await new Promise(setImmediate);
      await raw.ping();
    }
  });

  it('hears at once of a table that it has made smaller', async (test) => {
    const { path } = await openServer(test);
    const raw = await openRaw(test, path);
    raw.send(settings, 0, 0, setting(settingIds.tableBytes, 0));
    for (const id of [1, 3]) raw.send(headers, endHeaders | endStream, id, requestBlock());
    await raw.ping();
    const answers = raw.frames.filter(({ type, flags }) => type === headers && (flags & endStream) === 0);
    assert.deepEqual(
      answers.map(({ payload }) => payload[0]),
      [0x20, head[0]],
    );
  });

  it('gets nothing beyond a window that it narrows in the middle', async (test) => {
    const { path } = await openServer(test, (stream) => {
      stream.respond(head);
      stream.end(Buffer.alloc(200_000));
    });
    const raw = await openRaw(test, path);
    raw.send(settings, 0, 0, setting(settingIds.windowBytes, 10));
    raw.send(headers, endHeaders | endStream, 1, requestBlock());
    await raw.ping();
    raw.send(settings, 0, 0, setting(settingIds.windowBytes, 5));
    raw.send(windowUpdate, 0, 1, number(4));
    await raw.ping();
    const sent = () =>
      raw.frames.filter(({ type }) => type === data).reduce((sum, { payload }) => sum + payload.length, 0);
    assert.equal(sent(), 10);
    raw.send(windowUpdate, 0, 1, number(7));
    await raw.ping();
    assert.equal(sent(), 16);
    raw.send(settings, 0, 0, setting(settingIds.windowBytes, 65_535));
    await raw.ping();
    assert.equal(sent(), 65_535, 'so much the connection takes');
  });
});
