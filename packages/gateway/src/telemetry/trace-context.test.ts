import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseTraceparent, parseTracestate, spanIdOf, writeTraceparent } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('what is written is read back, with the span of the call and its flag', () => {
  for (const isSampled of [true, false]) {
    const callId = randomUUIDv7();
    const read = parseTraceparent(writeTraceparent(traceId, callId, isSampled));
    assert.deepEqual(read, { traceId, spanId: spanIdOf(callId), isSampled });
    assert.equal(read?.spanId, callId.replaceAll('-', '').slice(16));
  }
});

test('no two calls share a span, and none has the span that is not one', () => {
  const ids = new Set(Array.from({ length: 20_000 }, () => spanIdOf(randomUUIDv7())));
  assert.equal(ids.size, 20_000);
  for (const id of ids) assert.match(id, /^[89ab][0-9a-f]{15}$/);
});

test('only the first flag says whether a trace is followed', () => {
  const sampledWith = (flags: string) => parseTraceparent(`00-${traceId}-${spanId}-${flags}`)?.isSampled;
  assert.deepEqual(['00', '01', '02', '03', 'fe', 'ff'].map(sampledWith), [false, true, false, true, false, true]);
});

test('no text makes it throw, and what it reads is always of the right form', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}.*$/)),
      (text) => {
        const read = parseTraceparent(text);
        if (read !== undefined) assert.match(`${read.traceId} ${read.spanId}`, /^[0-9a-f]{32} [0-9a-f]{16}$/);
        parseTracestate(text);
      },
    ),
  );
});

test('a tracestate is a short list of names and values, or it is nothing', () => {
  assert.equal(parseTracestate('congo=t61rcWkgMzE, rojo=00f067aa0ba902b7'), 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7');
  assert.equal(parseTracestate('a@b=1,,'), 'a@b=1');
  const wrong = ['', ',', 'a', '=b', 'A=b', 'a=b=c', 'a=b\nc', 'a=é', 'a= ', `a=${'b'.repeat(257)}`];
  wrong.push(Array.from({ length: 33 }, (_, at) => `k${at}=v`).join(','), `a=${'b'.repeat(200)},c=${'d'.repeat(400)}`);
  for (const text of wrong) assert.equal(parseTracestate(text), undefined, text);
});
