import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import type { McpTool } from '../../registry/export-tools.ts';
import { SchemaCheck } from '../../registry/schemas/check-schema.ts';
import { describeKept, hashOfUri, withKeptResults } from './kept-results.ts';

const hash = 'ab'.repeat(32);

function schemaOf(outputSchema: JsonObject): SchemaCheck {
  const { outputSchema: widened } = withKeptResults({ outputSchema } as McpTool);
  return new SchemaCheck(widened as JsonObject, 'result');
}

test('the schema takes the result as before, or where it is kept, and nothing else', () => {
  const check = schemaOf({
    type: 'object',
    properties: { next: { $ref: '#' }, at: { $ref: '#/$defs/place' } },
    required: ['at'],
    $defs: { place: { type: 'string' } },
  });
  assert.deepEqual(check.check({ at: 'here', next: { at: 'there' } }), []);
  assert.notDeepEqual(check.check({ at: 'here', next: { at: 1 } }), [], 'references lead where they led');
  assert.notDeepEqual(check.check({}), []);
  assert.deepEqual(check.check(describeKept({ hash, sizeBytes: 5 }).structuredContent), []);
});

test('a tool that promises nothing still promises nothing', () => {
  assert.deepEqual(withKeptResults({ name: 'a' } as McpTool), { name: 'a' });
});

test('only the addresses that the gate gives out are taken', () => {
  const [, link] = describeKept({ hash, sizeBytes: 5 }).content;
  assert.equal(link?.type === 'resource_link' && hashOfUri(link.uri), hash);
  for (const uri of ['', 'sallyport://content/', `sallyport://content/${hash}/..`, `sallyport://content/${hash}\n`]) {
    assert.equal(hashOfUri(uri), undefined, uri);
  }
});
