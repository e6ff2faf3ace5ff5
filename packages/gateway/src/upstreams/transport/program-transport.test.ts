import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Program, ProgramEnd, ProgramOpener, RunOptions } from '@sallyport/sandbox';
import { maxMessageBytes } from './message-meter.ts';
import { ProgramTransport } from './program-transport.ts';
import { ownText } from '../../call/redacted.ts';

/** A program that says what the test says. */
async function open() {
  const { promise: ended, resolve } = Promise.withResolvers<ProgramEnd>();
  let options: RunOptions | undefined;
  const written: string[] = [];
  const opener: ProgramOpener = {
    open: (_program, given) => {
      options = given;
      given.signal.addEventListener('abort', () => resolve({ how: { kind: 'aborted' }, usage: {} }));
      return {
        started: Promise.resolve(),
        ended,
        write: (bytes) => void written.push(Buffer.from(bytes).toString()),
        measure: () => Promise.resolve({}),
        kill: () => undefined,
      };
    },
  };
  const transport = new ProgramTransport({} as Program, opener, { redact: ownText });
  const received: unknown[] = [];
  Object.assign(transport, { onmessage: (message: unknown) => received.push(message) });
  await transport.start();
  const say = async (text: string): Promise<void> => options?.onStdout(Buffer.from(text));
  const end = (how: ProgramEnd['how']): void => resolve({ how, usage: {} });
  return { transport, received, written, say, end, complain: (text: string) => options?.onStderr(Buffer.from(text)) };
}

test('messages come out in their order, and what is not one is dropped', async () => {
  const { transport, received, say } = await open();
  await say('starting up\n{"id":1}\n{"method"');
  await say(':"news"}\n[broken\n');
  assert.deepEqual(received, [{ id: 1 }, { method: 'news' }]);
  await transport.close();
  assert.equal(transport.failure, undefined);
});

test('a flood is read no further until its time has passed, and closing does not wait for that', async () => {
  const { transport, received, say } = await open();
  let isRead = false;
  const reading = say('{"id":1}\n'.repeat(600_000)).then(() => (isRead = true));
  while (received.length < 600_000) await sleep(1);
  await sleep(10);
  assert.equal(isRead, false);
  await transport.close();
  await reading;
});

test('a message that is too large ends the server with a reason', async () => {
  const { transport, say } = await open();
  let isClosed = false;
  Object.assign(transport, { onclose: () => (isClosed = true) });
  await say('x'.repeat(maxMessageBytes));
  assert.equal(isClosed, false);
  await say('xx');
  await transport.close();
  assert.match(transport.failure?.message ?? '', /larger than 8 MB/);
  assert.equal(isClosed, true);
});

test('the end of a server is told with the last it said', async () => {
  const { transport, end, complain } = await open();
  const closed = new Promise<void>((resolve) => Object.assign(transport, { onclose: resolve }));
  void complain('no such table\u0007');
  end({ kind: 'exited', code: 7 });
  await closed;
  assert.equal(transport.failure?.message, 'it ended with exit code 7: no such table\\u0007');
});

test('what is sent in one turn is one write, in its order, and closing sends what waits', async () => {
  const { transport, written } = await open();
  await Promise.all([1, 2, 3].map((id) => transport.send({ jsonrpc: '2.0', id, method: 'ping' })));
  await sleep(1);
  await transport.send({ jsonrpc: '2.0', method: 'notifications/last', params: { text: 'é' } });
  await transport.close();
  const [first = '', last = '', ...more] = written;
  const lines = first.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { readonly id: number }).id),
    [1, 2, 3],
  );
  assert.match(last, /"é"}}\n$/);
  assert.deepEqual(more, []);
});
