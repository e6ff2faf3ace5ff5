import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import type { Message } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { doors } from '../../packages/gateway/src/call/call.ts';
import { oneByOne } from '../../packages/gateway/src/doors/transport/wire/one-by-one.ts';
import type { Peer } from '../../packages/gateway/src/doors/transport/peer.ts';
import { RpcError } from '../../packages/gateway/src/doors/transport/rpc-error.ts';
import { bindService } from '../../packages/gateway/src/doors/transport/service-binding.ts';
import type { ServerStreamHandler } from '../../packages/gateway/src/doors/transport/service-binding.ts';
import { openEchoDoors } from './echo-doors.ts';
import { openBidiStream, openGrpcClient, openServerStream } from './grpc-client.ts';

const loaded = loadSync('chat.proto', { includeDirs: [import.meta.dirname] })['test.v1.Word'] as MessageTypeDefinition<
  object,
  object
>;
const [file] = loaded.fileDescriptorProtos;
assert.ok(file !== undefined);
const registry = createFileRegistry(fromBinary(FileDescriptorProtoSchema, file), () => undefined);
const chat = registry.getService('test.v1.Chat');
const word = registry.getMessage('test.v1.Word');
assert.ok(chat !== undefined && word !== undefined);

const talkPath = '/test.v1.Chat/Talk';
const say = (text: string): Message => create(word, { text });
const textOf = (message: Message) => String(Reflect.get(message, 'text'));

interface Chat {
  readonly talk?: (words: AsyncIterable<Message>, peer: Peer) => AsyncIterable<Message>;
  readonly count?: ServerStreamHandler<Message, Message>;
}

async function openChat(test: TestContext, { talk = async function* () {}, count = async function* () {} }: Chat) {
  const {
    port,
    doors: opened,
    logged,
  } = await openEchoDoors(test, undefined, {
    services: [bindService(chat ?? assert.fail(), doors, { talk: oneByOne(talk), count })],
  });
  return { port, opened, logged, client: openGrpcClient(test, 'test.v1.Chat', port) };
}

describe('bidirectional streams', () => {
  it('answer each message as it comes, and end when the caller has said all', async (test) => {
    const { client } = await openChat(test, {
      talk: async function* (words) {
        for await (const message of words) yield say(textOf(message).toUpperCase());
        yield say('bye');
      },
    });
    const talk = openBidiStream(client, 'Talk');
    for (const text of ['a', 'b', 'c']) {
      talk.write({ text });
      assert.deepEqual(await once(talk, 'data'), [{ text: text.toUpperCase() }]);
    }
    talk.end();
    assert.deepEqual(await once(talk, 'data'), [{ text: 'bye' }]);
    const [ended] = (await once(talk, 'status')) as [{ code: number }];
    assert.equal(ended.code, status.OK);
  });

  it('carry thousands of messages in order', async (test) => {
    const { client } = await openChat(test, { talk: (words) => words });
    const talk = openBidiStream(client, 'Talk');
    const heard: string[] = [];
    talk.on('data', ({ text }: { text: string }) => heard.push(text));
    const said = Array.from({ length: 5000 }, (_, index) => `${index}:${'x'.repeat(index % 300)}`);
    for (const text of said) talk.write({ text });
    talk.end();
    await once(talk, 'end');
    assert.deepEqual(heard, said);
  });

  it('hold back a caller who is faster than the handler', async (test) => {
    const release = Promise.withResolvers<void>();
    const { client } = await openChat(test, {
      talk: async function* (words) {
        await release.promise;
        for await (const message of words) yield message;
      },
    });
    const talk = openBidiStream(client, 'Talk');
    let heard = 0;
    talk.on('data', () => heard++);
    const text = 'x'.repeat(50_000);
    let taken = 0;
    for (let sent = 0; sent < 200; sent++) talk.write({ text }, () => taken++);
    talk.end();
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok(taken < 100, `${taken} of 200 were taken`);
    release.resolve();
    await once(talk, 'end');
    assert.equal(heard, 200);
  });

  it('abort the signal when the caller cancels', async (test) => {
    const aborted = Promise.withResolvers<void>();
    const { client } = await openChat(test, {
      talk: async function* (words, { signal }) {
        signal.addEventListener('abort', () => aborted.resolve());
        for await (const message of words) yield message;
        await aborted.promise;
      },
    });
    const talk = openBidiStream(client, 'Talk');
    talk.on('error', () => {});
    talk.write({ text: 'a' });
    await once(talk, 'data');
    talk.cancel();
    await aborted.promise;
  });

  it('break off for the handler, instead of ending, when the connection breaks', async (test) => {
    const broken = Promise.withResolvers<unknown>();
    const { port } = await openChat(test, {
      talk: async function* (words) {
        try {
          for await (const message of words) yield message;
          broken.resolve('ended');
        } catch (error) {
          broken.resolve(error);
        }
      },
    });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const stream = session.request({ ':method': 'POST', ':path': talkPath, 'content-type': 'application/grpc' });
    stream.on('error', () => {});
    stream.write(Buffer.from([0, 0, 0, 0, 0]));
    await once(stream, 'data');
    session.destroy();
    const error = await broken.promise;
    assert.ok(error instanceof RpcError);
    assert.equal(error.code, 'canceled');
  });

  it('say how they failed after the messages that came before', async (test) => {
    const { client, logged } = await openChat(test, {
      talk: async function* () {
        yield say('one');
        throw new Error('swordfish');
      },
    });
    const talk = openBidiStream(client, 'Talk');
    const failed = once(talk, 'error') as Promise<[{ code: number; details: string }]>;
    talk.on('data', () => {});
    talk.end();
    const [error] = await failed;
    assert.equal(error.code, status.INTERNAL);
    assert.doesNotMatch(error.details, /swordfish/);
    assert.match(String(logged[0]?.error), /swordfish/);
  });

  it('refuse bytes that are no message, and a last message that is not whole', async (test) => {
    const { port } = await openChat(test, { talk: (words) => words });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    test.after(() => session.destroy());
    for (const bytes of [
      [0, 0, 0, 0, 2, 0xff, 0xff],
      [0, 0, 0, 0, 9, 1],
      [7, 0, 0, 0, 0],
      [0, 0xff, 0xff, 0xff, 0xff],
    ]) {
      const stream = session.request({ ':method': 'POST', ':path': talkPath, 'content-type': 'application/grpc' });
      stream.resume();
      stream.end(Buffer.from(bytes));
      const [trailers] = (await once(stream, 'trailers')) as [Record<string, string>];
      assert.match(trailers['grpc-status'] ?? '', bytes[1] === 0xff ? /^8$/ : /^3$/);
    }
  });
});

describe('server streams', () => {
  it('send no faster than the caller reads, and stop when the caller leaves', async (test) => {
    const left = Promise.withResolvers<void>();
    let yielded = 0;
    const { port } = await openChat(test, {
      count: async function* () {
        try {
          for (;;) {
            yielded++;
            yield say('x'.repeat(50_000));
          }
        } finally {
          left.resolve();
        }
      },
    });
    // Node's own client, because it opens no larger window than HTTP/2 begins with.
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    test.after(() => session.destroy());
    const stream = session.request({
      ':method': 'POST',
      ':path': '/test.v1.Chat/Count',
      'content-type': 'application/grpc',
    });
    stream.on('error', () => {});
    stream.end(Buffer.from([0, 0, 0, 0, 0]));
    await once(stream, 'response');
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok(yielded < 20, `${yielded} were sent to a caller who reads nothing`);
    stream.destroy();
    await left.promise;
  });

  it('end at the deadline', async (test) => {
    const { client } = await openChat(test, {
      count: async function* (_request, { signal }) {
        yield say('started');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw signal.reason as Error;
      },
    });
    const count = openServerStream(client, 'Count', {}, { 'grpc-timeout': '50m' });
    const failed = once(count, 'error') as Promise<[{ code: number }]>;
    count.on('data', () => {});
    assert.equal((await failed)[0].code, status.DEADLINE_EXCEEDED);
  });
});

describe('bidirectional streams of the Connect protocol', () => {
  const frame = (message: string, flag = 0): Buffer => {
    const prefix = Buffer.alloc(5);
    prefix[0] = flag;
    prefix.writeUInt32BE(Buffer.byteLength(message), 1);
    return Buffer.concat([prefix, Buffer.from(message)]);
  };

  /** Sends these bytes as the whole request, and gives the status and the frames of the answer. */
  async function talk(test: TestContext, port: number, body: Buffer, headers: Record<string, string> = {}) {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    test.after(() => session.destroy());
    const stream = session.request({
      ...{ ':method': 'POST', ':path': talkPath, 'content-type': 'application/connect+json' },
      ...headers,
    });
    stream.end(body);
    const [head] = (await once(stream, 'response')) as [{ ':status': number }];
    const bytes = Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>));
    const frames: { flag: number; text: string }[] = [];
    for (let at = 0; head[':status'] === 200 && at < bytes.length;) {
      const end = at + 5 + bytes.readUInt32BE(at + 1);
      frames.push({ flag: bytes[at] ?? 0, text: bytes.toString('utf8', at + 5, end) });
      at = end;
    }
    return { status: head[':status'], frames };
  }

  it('are framed JSON in both directions over HTTP/2, and the last frame says how they ended', async (test) => {
    const { port } = await openChat(test, {
      talk: async function* (words) {
        for await (const message of words) {
          if (textOf(message) === 'stop') throw new RpcError('aborted', 'enough');
          yield say(textOf(message).toUpperCase());
        }
      },
    });
    const words = Buffer.concat(['a', 'b'].map((text) => frame(JSON.stringify({ text }))));
    const heard = await talk(test, port, words);
    assert.equal(heard.status, 200);
    assert.deepEqual(
      heard.frames.map(({ flag, text }) => `${flag} ${Object.values(JSON.parse(text) as object).join()}`),
      ['0 A', '0 B', '2 '],
    );
    const { frames } = await talk(test, port, Buffer.concat([words, frame('{"text":"stop"}')]));
    assert.deepEqual(frames.at(-1), { flag: 2, text: '{"error":{"code":"aborted","message":"enough"}}' });
  });

  it('end with an error for what is no message, and do nothing for pages of other origins', async (test) => {
    const { port } = await openChat(test, { talk: (words) => words });
    for (const body of [frame('{"text":'), frame('{}', 1), frame('{"text":"a"}').subarray(0, 9)]) {
      const { frames } = await talk(test, port, body);
      assert.match(frames.at(-1)?.text ?? '', /"code":"(invalid_argument|unimplemented)"/);
    }
    const foreign = await talk(test, port, frame('{"text":"a"}'), { origin: 'http://elsewhere.example' });
    assert.equal(foreign.status, 403);
  });
});
