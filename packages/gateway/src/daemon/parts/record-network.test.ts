import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { networkRecorder } from './record-network.ts';

const event = (target: string) => ({ outcome: 'refused', target, times: 1 }) as const;

test('the first connections are recorded at once, later ones together, redacted', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const records: JsonObject[] = [];
  const note = networkRecorder(
    (payload) => records.push(payload),
    (text) => text.replace('secret', '[redacted]'),
    1000,
  );
  note('demo', [event('a:443')]);
  note('demo', [event('b:443')]);
  note('demo', [event('b:443'), event('secret.test:443')]);
  note('other', [event('c:443')]);
  assert.deepEqual(
    records.map(({ upstream, network }) => [upstream, network]),
    [
      ['demo', [event('a:443')]],
      ['other', [event('c:443')]],
    ],
  );
  t.mock.timers.tick(1000);
  assert.deepEqual(records[2]?.['network'], [{ ...event('b:443'), times: 2 }, event('[redacted].test:443')]);
  t.mock.timers.tick(5000);
  assert.equal(records.length, 3);
  note('demo', [event('d:443')]);
  assert.equal(records.length, 4);
});
