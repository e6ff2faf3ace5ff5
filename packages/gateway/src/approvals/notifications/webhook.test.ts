import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Notice } from './notice.ts';
import { Webhook } from './webhook.ts';

interface Arrived {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that answers with each of the statuses in turn, and with 200 after that. */
async function openReceiver(t: TestContext, statuses: number[]) {
  const arrived: Arrived[] = [];
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const tries = statuses.length;
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    arrived.push({ headers: request.headers, body: await text(request) });
    const status = statuses.shift() ?? 200;
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    if (arrived.length > tries) resolve();
  };
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, arrived, all };
}

function noticeOf(more: Partial<Notice> = {}): Notice {
  return {
    id: 't.pending',
    event: 'pending',
    title: '',
    text: '',
    untilMs: Date.now() + 60_000,
    body: { task_id: 't' },
    ...more,
  };
}

function openWebhook(t: TestContext, url: string, { secret = 'shared' } = {}) {
  const failed = Promise.withResolvers<unknown>();
  const webhook = new Webhook({ onFailure: (_notice, error) => failed.resolve(error), delaysMs: [1, 1, 1] });
  t.after(() => webhook.close());
  const send = (notice: Notice) => webhook.send(notice, { url, readSecret: () => secret });
  return { send, failed: failed.promise };
}

test('a message is signed so that its receiver can tell who sent it, and what', async (t) => {
  const { url, arrived, all } = await openReceiver(t, []);
  const secret = `whsec_${Buffer.from('the key').toString('base64')}`;
  assert.equal(await openWebhook(t, url, { secret }).send(noticeOf()), true);
  await all;
  const [{ headers, body } = assert.fail()] = arrived;
  assert.deepEqual(JSON.parse(body), { task_id: 't' });
  assert.equal(headers['webhook-id'], 't.pending');
  const signed = `t.pending.${String(headers['webhook-timestamp'])}.${body}`;
  const expected = createHmac('sha256', 'the key').update(signed).digest('base64');
  assert.equal(headers['webhook-signature'], `v1,${expected}`);
  assert.ok(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000) < 60);
});

test('a receiver that fails gets the message again, under the same id, until it takes it', async (t) => {
  const { url, arrived, all } = await openReceiver(t, [500, 429]);
  assert.equal(await openWebhook(t, url).send(noticeOf()), true);
  await all;
  assert.deepEqual(
    arrived.map(({ headers }) => headers['webhook-id']),
    ['t.pending', 't.pending', 't.pending'],
  );
});

test('it gives up when the receiver says never, when nothing helps, and when it is too late', async (t) => {
  for (const [statuses, notice, tries] of [
    [[410, 200], noticeOf(), 1],
    [[503, 503, 503, 503, 503], noticeOf(), 4],
    [[503, 503], noticeOf({ untilMs: Date.now() }), 1],
    [[302, 302, 302, 302, 302], noticeOf(), 4],
  ] as [number[], Notice, number][]) {
    const { url, arrived } = await openReceiver(t, statuses);
    const { send, failed } = openWebhook(t, url);
    assert.equal(await send(notice), false);
    assert.ok((await failed) instanceof Error);
    assert.equal(arrived.length, tries);
  }
});

test('closing ends what is being tried, without calling it a failure', async (t) => {
  const { url } = await openReceiver(t, [500, 500, 500, 500]);
  const webhook = new Webhook({ onFailure: () => assert.fail('a failure was reported'), delaysMs: [60_000] });
  const send = () => webhook.send(noticeOf(), { url, readSecret: () => 'shared' });
  const sent = send();
  await webhook.close();
  assert.deepEqual([await sent, await send()], [false, false]);
});
