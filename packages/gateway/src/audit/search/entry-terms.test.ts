import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { termOf, termsOf, textOf } from './entry-terms.ts';

const factsOf = (payload: JsonObject) => {
  return { kind: 'call', result: 'ok', timeMs: 0, callId: undefined, sessionId: undefined, payload } as const;
};
const has = (payload: JsonObject, field: string, value: string): boolean =>
  termsOf(factsOf(payload)).has(termOf(field, value));

test('a file is found by its name, its path and every folder that it is in', () => {
  const payload = { workspace: '/home/me/work', arguments: { path: './src/a/b.ts' } };
  for (const value of ['b.ts', 'src/a/b.ts', 'src/a', 'src', '/home/me/work/src/a/b.ts', '/home/me/work']) {
    assert.ok(has(payload, 'path', value), value);
  }
  assert.ok(!has(payload, 'path', 'a'), 'a folder in between has no path of its own');
  assert.ok(has({ arguments: { moves: [{ from: 'x/y', to: 'z' }] } }, 'path', 'x'));
  assert.ok(has({ before_images: [{ path: '/t/changed' }] }, 'path', '/t'));
});

test('a host is found by its domains, and a tool by its family', () => {
  const payload = {
    tool: 'web.fetch',
    network: [{ target: 'api.example.org:443' }],
    arguments: { url: 'https://b.test/x' },
  };
  for (const value of ['api.example.org', 'example.org', 'b.test']) assert.ok(has(payload, 'host', value), value);
  assert.ok(!has(payload, 'host', 'pi.example.org'));
  assert.ok(has({ network: [{ target: '10.0.0.1:80' }] }, 'host', '10.0.0.1'));
  assert.ok(!has({ network: [{ target: '10.0.0.1:80' }] }, 'host', '0.0.1'));
  assert.ok(has(payload, 'tool', 'web.*') && has(payload, 'tool', 'web.fetch'));
});

test('values of any form are taken, and bounded', () => {
  const deep = JSON.parse(`${'{"path":'.repeat(500)}"x"${'}'.repeat(500)}`) as JsonObject;
  for (const hostile of [{ arguments: 7 }, { arguments: [null, deep] }, { decision: 'x', network: {} }, { tool: 5 }]) {
    assert.ok(termsOf(factsOf(hostile)).size < 50);
  }
  const long = { arguments: { path: 'a/'.repeat(1000), paths: Array.from({ length: 1000 }, (_, n) => `p${n}`) } };
  assert.ok(termsOf(factsOf(long)).size < 200);
  assert.ok(textOf(factsOf({ arguments: { text: 'x'.repeat(100_000) } })).length <= 8192);
});
