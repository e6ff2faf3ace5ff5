import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Span } from '../../packages/gateway/src/telemetry/otlp/call-span.ts';
import { readTraceSettings } from '../../packages/gateway/src/telemetry/otlp/read-settings.ts';
import { openSender } from '../../packages/gateway/src/telemetry/otlp/send-spans.ts';
import { SpanQueue } from '../../packages/gateway/src/telemetry/otlp/span-queue.ts';
import { OtlpReceiver } from '../harness/otlp-receiver.ts';

const span = (at: number): Span => ({
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: at.toString(16).padStart(16, '0'),
  flags: 1,
  name: 'execute_tool files.read',
  kind: 1,
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
  attributes: [],
  status: {},
});

async function open(
  t: TestContext,
  more: Record<string, string> = {},
): Promise<{ readonly receiver: OtlpReceiver; readonly queue: SpanQueue }> {
  const receiver = await OtlpReceiver.open();
  const { settings } = readTraceSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '10',
    OTEL_BSP_MAX_QUEUE_SIZE: '100',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '40',
    ...more,
  });
  assert.ok(settings);
  const queue = new SpanQueue(openSender(settings, '1.0.0'), settings);
  t.after(async () => {
    await queue.close();
    await receiver.close();
  });
  return { receiver, queue };
}

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    assert.ok(tries < 3000, 'it never came to that');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const total = ({ dropped }: SpanQueue): number => Object.values(dropped).reduce((sum, each) => sum + each, 0);

test('spans arrive in batches, all of them and once', async (t) => {
  const { receiver, queue } = await open(t);
  for (let at = 1; at <= 95; at++) queue.offer([span(at)]);
  await until(() => queue.exported === 95);
  assert.deepEqual(
    receiver.spans.map(({ spanId }) => Number.parseInt(spanId, 16)).sort((a, b) => a - b),
    Array.from({ length: 95 }, (_, at) => at + 1),
  );
  assert.ok(receiver.bodies.length >= 3, 'no batch is larger than it may be');
  assert.deepEqual([total(queue), queue.problem, queue.length], [0, undefined, 0]);
});

test('a receiver that hangs costs a bounded number of spans, each of them counted', async (t) => {
  const { receiver, queue } = await open(t, { OTEL_EXPORTER_OTLP_TIMEOUT: '300' });
  receiver.behaviour = 'hang';
  for (let at = 1; at <= 1000; at++) queue.offer([span(at)]);
  assert.ok(queue.length <= 100);
  // A batch that is on its way has left the queue.
  assert.equal(queue.dropped.queue_full, 1000 - 100 - 40);
  await until(() => queue.problem !== undefined);
  assert.match(queue.problem ?? '', /no answer within 300 ms/);
  receiver.behaviour = 'take';
  await until(() => queue.exported > 0 && queue.length === 0);
  await until(() => queue.problem === undefined);
  assert.equal(queue.dropped.failed, 0);
});

test('what the receiver refuses is dropped at once; what it cannot take now is sent again', async (t) => {
  const { receiver, queue } = await open(t);
  receiver.behaviour = 500;
  queue.offer([span(1)]);
  await until(() => queue.dropped.refused === 1);
  assert.match(queue.problem ?? '', /the receiver answered 500/);
  for (const behaviour of [503, 'tear'] as const) {
    receiver.behaviour = behaviour;
    const { exported } = queue;
    queue.offer([span(2)]);
    await until(() => /503|ECONNRESET|hang up/.test(queue.problem ?? ''));
    receiver.behaviour = 'take';
    await until(() => queue.exported === exported + 1);
  }
  assert.equal(total(queue), 1);
});

test('nobody at the address: the end of the daemon waits a moment, and counts what is lost', async (t) => {
  const { receiver, queue } = await open(t);
  await receiver.close();
  queue.probe();
  await until(() => queue.problem !== undefined);
  assert.match(queue.problem ?? '', /ECONNREFUSED/);
  queue.offer([span(1), span(2)]);
  await queue.close();
  assert.equal(queue.dropped.failed, 2);
  queue.offer([span(3)]);
  assert.equal(total(queue), 3);
});

test('what is left is sent when the daemon ends', async (t) => {
  const { receiver, queue } = await open(t, { OTEL_BSP_SCHEDULE_DELAY: '60000' });
  for (let at = 1; at <= 39; at++) queue.offer([span(at)]);
  await queue.close();
  assert.equal(receiver.spans.length, 39);
});

test('what the receiver says it did not take is counted as lost', async (t) => {
  const { receiver, queue } = await open(t);
  receiver.rejects = 2;
  queue.offer([span(1), span(2), span(3)]);
  await until(() => queue.exported === 1);
  assert.equal(queue.dropped.refused, 2);
  assert.match(queue.problem ?? '', /rejected 2 of 3 spans/);
});
