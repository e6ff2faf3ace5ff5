import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Client, credentials, status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { completed, refused } from '../../packages/gateway/src/closers/ending.test-kit.ts';
import type { Received } from '../../packages/gateway/src/call/call.ts';
import type { Submission } from '../../packages/gateway/src/call/submission.ts';
import type { CallEnding } from '../../packages/gateway/src/call/stage.ts';
import { refuse } from '../../packages/gateway/src/call/refusal.ts';
import { requirement } from '../requirement.ts';
import { encodeElsewhere, openTypedClient } from './typed-client.ts';
import type { Request, Response, TypedClient } from './typed-client.ts';
import { openTypedDoors } from './typed-doors.ts';
import { answerOf } from '../../packages/gateway/src/daemon/answer-call.test-kit.ts';

const streamPath = '/sallyport.v1.ToolProtocolService/ExecuteStream';
const asBytes = (bytes: Buffer): Buffer => bytes;

type Play = (call: Received) => CallEnding | Promise<CallEnding>;

/** A gateway whose reads return the path that was asked for, and which knows one token. */
const playReads: Play = (call) => {
  if (call.violations !== undefined) return refused(refuse('MALFORMED_CALL', 'call-shape', 'no'), 'decode-call', call);
  if (call.credential !== 'token') return refused(refuse('UNAUTHENTICATED', 'credential', 'no'), 'open-session', call);
  const { path } = JSON.parse(call.input) as { path: string };
  return completed({}, { content: Buffer.from(path).toString('base64'), encoding: 'base64' });
};

const read = (path: string, more: Request = {}): Request => ({
  request_id: `read ${path}`,
  session_token: 'token',
  file_read: { path },
  ...more,
});

async function open(test: TestContext, where: 'tcp' | 'socket', play: Play = playReads, mostOpenPerStream = 256) {
  const submit = async (call: Submission) => answerOf(await play(call as Received));
  const doors = await openTypedDoors(test, { submit, mostOpenPerStream });
  const client = openTypedClient(where === 'tcp' ? doors.port : doors.agentSocket);
  test.after(() => client.close());
  return { ...doors, client };
}

/** Sends all requests over one stream and gathers the answers by id. */
async function exchange(client: TypedClient, requests: readonly Request[]): Promise<Map<string, Response>> {
  const stream = client.executeStream();
  const answers = new Map<string, Response>();
  stream.on('data', (response: Response) => {
    assert.ok(!answers.has(response.request_id), 'one answer each');
    answers.set(response.request_id, response);
  });
  for (const request of requests) stream.write(request);
  stream.end();
  await once(stream, 'end');
  return answers;
}

for (const where of ['tcp', 'socket'] as const) {
  describe(`a client of another make, over ${where}`, () => {
    it('executes and gets the bytes', async (test) => {
      requirement('WIRE-1', 'WIRE-4');
      const { client } = await open(test, where);
      const response = await client.execute(read('notes.md'));
      assert.equal(response.request_id, 'read notes.md');
      assert.equal(response.result, 'success');
      assert.equal(response.success?.inline_result.toString(), 'notes.md');
      assert.equal(response.success?.budget_consumed, '1');
    });

    it('executes thousands of requests over one stream and gets each answer once', async (test) => {
      requirement('WIRE-4', 'PIPE-5');
      const { client, complaints } = await open(test, where, async (call) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
        return playReads(call);
      });
      const paths = Array.from({ length: 2000 }, (_, index) => `file-${index}`);
      const answers = await exchange(
        client,
        paths.map((path) => read(path)),
      );
      assert.equal(answers.size, paths.length);
      for (const path of paths) {
        assert.equal(answers.get(`read ${path}`)?.success?.inline_result.toString(), path);
      }
      assert.deepEqual(complaints, []);
    });

    it('is denied in the message, not by the transport, without a valid token or with a request that is not valid', async (test) => {
      requirement('WIRE-4', 'PIPE-5');
      const { client } = await open(test, where);
      // A token in the header is of no use here.
      const headers = { authorization: 'Bearer token' };
      const stranger = await client.execute(read('a', { session_token: 'guess' }), { headers });
      assert.equal(stranger.denied?.rationale_code, 'UNAUTHENTICATED');
      const malformed = await client.execute({ request_id: 'm', session_token: 'token' });
      assert.equal(malformed.request_id, 'm');
      assert.equal(malformed.denied?.rationale_code, 'MALFORMED_CALL');
      assert.deepEqual(malformed.denied?.violations, [
        { field: 'tool', rule: 'required', message: malformed.denied?.violations[0]?.message },
      ]);
    });
  });
}

describe('a stream', () => {
  it('answers in the order in which calls end, not in which they came', async (test) => {
    requirement('WIRE-4');
    const slow = Promise.withResolvers<void>();
    const { client } = await open(test, 'tcp', async (call) => {
      if (call.requestId === 'read slow') await slow.promise;
      return playReads(call);
    });
    const stream = client.executeStream();
    stream.write(read('slow'));
    stream.write(read('fast'));
    const [first] = (await once(stream, 'data')) as [Response];
    assert.equal(first.request_id, 'read fast');
    slow.resolve();
    const [second] = (await once(stream, 'data')) as [Response];
    assert.equal(second.request_id, 'read slow');
    stream.end();
    await once(stream, 'end');
  });

  it('goes on after a request that is denied or not valid', async (test) => {
    requirement('WIRE-4', 'PIPE-5');
    const { client } = await open(test, 'tcp');
    const answers = await exchange(client, [
      read('a'),
      read('b', { session_token: 'guess' }),
      { request_id: 'nothing', session_token: 'token' },
      read('../c', { request_id: 'climbs' }),
      read('d'),
    ]);
    assert.deepEqual([...answers].map(([id, { result }]) => `${id}: ${result}`).sort(), [
      'climbs: denied',
      'nothing: denied',
      'read a: success',
      'read b: denied',
      'read d: success',
    ]);
  });

  it('takes no more requests at once than its bound', async (test) => {
    requirement('WIRE-4', 'NFR-4');
    let running = 0;
    let most = 0;
    const { client } = await open(
      test,
      'socket',
      async (call) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running--;
        return playReads(call);
      },
      8,
    );
    const answers = await exchange(
      client,
      Array.from({ length: 200 }, (_, index) => read(String(index))),
    );
    assert.equal(answers.size, 200);
    assert.equal(most, 8);
  });

  it('ends in an RPC error at bytes that are no request, after the answers to those before', async (test) => {
    requirement('WIRE-3', 'PIPE-5');
    const slow = Promise.withResolvers<void>();
    const { port, complaints } = await open(test, 'tcp', async (call) => {
      await slow.promise;
      return playReads(call);
    });
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    test.after(() => client.close());
    const stream = client.makeBidiStreamRequest(streamPath, asBytes, asBytes);
    const answers: Buffer[] = [];
    stream.on('data', (answer: Buffer) => answers.push(answer));
    stream.write(encodeElsewhere(read('a')));
    stream.write(Buffer.from('0aff', 'hex'));
    slow.resolve();
    const [error] = (await once(stream, 'error')) as [ServiceError];
    assert.equal(error.code, status.INVALID_ARGUMENT);
    assert.equal(answers.length, 1);
    assert.deepEqual(complaints, []);
  });

  it('cancels what it runs when the caller cancels', async (test) => {
    requirement('PIPE-7');
    const begun = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const { client } = await open(test, 'tcp', async (call) => {
      call.signal.addEventListener('abort', () => aborted.resolve());
      begun.resolve();
      await aborted.promise;
      return playReads(call);
    });
    const stream = client.executeStream();
    stream.on('error', () => {});
    stream.write(read('a'));
    await begun.promise;
    stream.cancel();
    await aborted.promise;
  });
});

describe('a call', () => {
  it('is cut at the deadline of the caller', async (test) => {
    requirement('PIPE-7');
    const aborted = Promise.withResolvers<void>();
    const { client } = await open(test, 'tcp', async (call) => {
      call.signal.addEventListener('abort', () => aborted.resolve());
      await aborted.promise;
      return playReads(call);
    });
    await assert.rejects(
      client.execute(read('a'), { deadline: Date.now() + 50 }),
      (error: ServiceError) => error.code === status.DEADLINE_EXCEEDED,
    );
    await aborted.promise;
  });

  it('is cancelled when the caller cancels', async (test) => {
    requirement('PIPE-7');
    const aborted = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { client } = await open(test, 'socket', async (call) => {
      call.signal.addEventListener('abort', () => aborted.resolve());
      begun.resolve();
      await aborted.promise;
      return playReads(call);
    });
    const answer = client.execute(read('a'), { onCall: (call) => void begun.promise.then(() => call.cancel()) });
    await assert.rejects(answer, (error: ServiceError) => error.code === status.CANCELLED);
    await aborted.promise;
  });

  it('carries the trace of the caller in its metadata', async (test) => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const seen: (string | undefined)[] = [];
    const { client } = await open(test, 'tcp', (call) => {
      seen.push(call.traceparent);
      return playReads(call);
    });
    await client.execute(read('a'), { headers: { traceparent } });
    assert.deepEqual(seen, [traceparent]);
  });
});
