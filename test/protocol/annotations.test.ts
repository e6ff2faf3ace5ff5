import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import type { DescField, DescFile } from '@bufbuild/protobuf';
import { pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator } from '@bufbuild/protovalidate';
import { file_buf_validate_validate as theirs } from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js';
import { ToolRequestSchema } from '@sallyport/contract';
import type { ToolRequest } from '@sallyport/contract';
import { validateToolRequest } from '@sallyport/contract/validation';
import fc from 'fast-check';
import { file_buf_validate_validate as ours } from '../../packages/contract/src/gen/buf/validate/validate_pb.ts';
import { toolRequests } from './request-arbitraries.ts';

/** Everything that decides how annotations are encoded, one line each. */
function describeFile({ messages, enums, extensions }: DescFile): string[] {
  const typeOf = (field: DescField): string => String(field.scalar ?? field.message?.typeName ?? field.enum?.typeName);
  return [
    ...messages.flatMap(({ typeName, fields }) =>
      fields.map((field) => `${typeName}.${field.name} = ${field.number} ${field.fieldKind} ${typeOf(field)}`),
    ),
    ...enums.flatMap(({ values }) => values.map(({ name, number }) => `${name} = ${number}`)),
    ...extensions.map(
      ({ typeName, number, extendee, message }) =>
        `${typeName} = ${number} on ${extendee.typeName} ${message?.typeName}`,
    ),
  ];
}

test('the vendored part of the rules has the names, numbers and types of protovalidate', () => {
  const known = new Set(describeFile(theirs));
  assert.ok(describeFile(ours).length > 20);
  assert.deepEqual(
    describeFile(ours).filter((line) => !known.has(line)),
    [],
  );
});

const ourNames: Readonly<Record<string, string>> = {
  'uint64.lte': 'max',
  'string.max_bytes': 'max_length',
  'string.in': 'one_of',
  'bytes.max_len': 'max_length',
  'bytes.len': 'exact_length',
  'repeated.max_items': 'max_items',
  'message.oneof': 'exclusive',
};
const validator = createValidator();

/** What protovalidate says of the same annotations, in our words. */
function judgeByProtovalidate(request: ToolRequest): string[] {
  const result = validator.validate(ToolRequestSchema, request);
  assert.notEqual(result.kind, 'error', String(result.error));
  const found = (result.violations ?? []).map(({ field, ruleId }) => ({
    field: pathToString(field),
    rule: ourNames[ruleId] ?? ruleId,
  }));
  const tooLong = found.filter(({ rule }) => rule === 'max_items').map(({ field }) => `${field}[`);
  return found
    .filter(({ field }) => !tooLong.some((list) => field.startsWith(list)))
    .map(({ field, rule }) => `${field} ${rule}`)
    .sort();
}

test('protovalidate, which reads the same annotations, finds the same violations in any request', () => {
  let valid = 0;
  const rules = new Set<string>();
  fc.assert(
    fc.property(toolRequests, (request) => {
      const violations = validateToolRequest(request);
      if (violations.length === 0) valid++;
      for (const { rule } of violations) rules.add(rule);
      assert.deepEqual(violations.map(({ field, rule }) => `${field} ${rule}`).sort(), judgeByProtovalidate(request));
    }),
    { numRuns: 3000 },
  );
  // Both sides of the question must have been asked.
  assert.ok(valid > 100, `${valid} of the requests were valid`);
  assert.deepEqual([...rules].sort(), [
    'exact_length',
    'exclusive',
    'max',
    'max_items',
    'max_length',
    'null_byte',
    'one_equals',
    'one_of',
    'path_traversal',
    'required',
  ]);
});

test('a violation repeats nothing of what the request says', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{12,40}$/), (secret) => {
      const violations = validateToolRequest(secretRequest(secret));
      assert.ok(violations.length >= 5);
      assert.ok(!JSON.stringify(violations).includes(secret));
    }),
  );
});

function secretRequest(secret: string): ToolRequest {
  const long = secret.repeat(30);
  const env = [secret, `${secret}=${secret}=`];
  return create(ToolRequestSchema, {
    requestId: long,
    sessionToken: long,
    dedupeKey: long,
    tool: { case: 'shellExec', value: { command: '', cwd: long.repeat(20), timeoutMs: 2n ** 60n, env } },
  });
}
