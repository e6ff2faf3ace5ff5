import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clone, create, createFileRegistry, setExtension } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { FieldOptionsSchema, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { compileRules } from './compile-rules.ts';
import { field as fieldOption, FieldRulesSchema } from './gen/buf/validate/validate_pb.ts';
import { file_sallyport_v1_tool_protocol } from './gen/sallyport/v1/tool_protocol_pb.ts';

/** FileRead, with other rules for its offset. */
function fileReadWith(rules: MessageInitShape<typeof FieldRulesSchema>): DescMessage {
  const proto = clone(FileDescriptorProtoSchema, file_sallyport_v1_tool_protocol.proto);
  const offset = proto.messageType.find(({ name }) => name === 'FileRead')?.field.find(({ name }) => name === 'offset');
  assert.ok(offset !== undefined);
  offset.options = create(FieldOptionsSchema);
  setExtension(offset.options, fieldOption, create(FieldRulesSchema, rules));
  // Annotations are read from the options themselves, so the file stands without the one that declares them.
  proto.dependency = [];
  const files = createFileRegistry(proto, () => undefined);
  return files.getMessage('sallyport.v1.FileRead') ?? assert.fail();
}

function violationsOf(desc: DescMessage, message: object): string[] {
  const found: string[] = [];
  compileRules(desc)(message, '', (field, rule) => found.push(`${field} ${rule}`));
  return found;
}

test('the check follows the annotations of the message, whatever they are', () => {
  const message = { path: 'a', offset: 11n, limit: 0n };
  assert.deepEqual(violationsOf(fileReadWith({ type: { case: 'uint64', value: { lte: 10n } } }), message), [
    'offset max',
  ]);
  assert.deepEqual(violationsOf(fileReadWith({ type: { case: 'uint64', value: { lte: 11n } } }), message), []);
});

test('a required number must not be zero', () => {
  const desc = fileReadWith({ required: true });
  assert.deepEqual(violationsOf(desc, { path: 'a', offset: 0n, limit: 0n }), ['offset required']);
  assert.deepEqual(violationsOf(desc, { path: 'a', offset: 1n, limit: 0n }), []);
});

test('an annotation that nobody implemented is an error, not a rule that always holds', () => {
  const cel = [{ id: 'odd', message: 'must be odd', expression: 'this % 2u == 1u' }];
  assert.throws(() => compileRules(fileReadWith({ cel })), /the rule odd is not known/);
});
