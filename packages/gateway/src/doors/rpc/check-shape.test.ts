import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../test/requirement.ts';
import { ExecuteToolRequestSchema, ListAvailableToolsResponseSchema } from '@sallyport/contract';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { checkBinaryShape, checkJsonShape } from './check-shape.ts';

const check = (text: string) => checkJsonShape(Buffer.from(text));
const refusal = { code: 'invalid_argument' };

describe('checkJsonShape', () => {
  it('refuses long texts of brackets, braces or commas, however they are spaced', () => {
    requirement('NFR-4');
    for (const text of ['[', '{', '{"a":', '[1,', '{},', '[ ', ',\n', '["",']) {
      assert.throws(() => check(text.repeat(100_001)), refusal, text);
    }
  });

  it('counts nothing inside strings, wherever quotes and backslashes stand', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), (piece) => {
        const text = JSON.stringify({ load: `${piece}[,{"\\`.repeat(30_000) });
        assert.doesNotThrow(() => check(text));
        assert.throws(() => check(`${text}${',[{'.repeat(40_000)}`), refusal);
      }),
      { numRuns: 10 },
    );
  });

  it('lets a string that never closes pass: the parser will say so', () => {
    assert.doesNotThrow(() => check(`"${'[,'.repeat(200_000)}`));
  });
});

describe('checkBinaryShape', () => {
  it('refuses large messages of tiny fields, known or unknown, at any depth', () => {
    requirement('NFR-4');
    const unknown = Buffer.alloc(300_003, Buffer.from([0xf8, 0x07, 0x01]));
    assert.throws(() => checkBinaryShape(ExecuteToolRequestSchema, unknown), refusal);
    // `context`, field 6, is a message.
    const nested = Buffer.concat([Buffer.from([0x32, 0xe3, 0xa7, 0x12]), unknown]);
    assert.throws(() => checkBinaryShape(ExecuteToolRequestSchema, nested), refusal);
    const emptyTools = Buffer.alloc(200_002, Buffer.from([0x0a, 0x00]));
    assert.throws(() => checkBinaryShape(ListAvailableToolsResponseSchema, emptyTools), refusal);
    const groups = Buffer.alloc(200_001, 0x0b);
    assert.throws(() => checkBinaryShape(ExecuteToolRequestSchema, groups), refusal);
    // `public_dependency`, field 10, is a list of numbers.
    const packed = Buffer.concat([Buffer.from([0x52, 0xe0, 0xa7, 0x12]), Buffer.alloc(300_000, 1)]);
    assert.throws(() => checkBinaryShape(FileDescriptorProtoSchema, packed), refusal);
  });

  it('lets long texts pass, whatever they hold', () => {
    const inputJson = Buffer.alloc(300_000, Buffer.from([0x0b, 0xf8, 0x07]));
    const message = Buffer.concat([Buffer.from([0x0a, 0x01, 0x78, 0x12, 0xe0, 0xa7, 0x12]), inputJson]);
    assert.doesNotThrow(() => checkBinaryShape(ExecuteToolRequestSchema, message));
  });

  it('comes to an end on any bytes', () => {
    requirement('WIRE-3');
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (piece) => {
        try {
          checkBinaryShape(ListAvailableToolsResponseSchema, Buffer.alloc(70_000, piece));
        } catch (error) {
          assert.match(String(error), /more than 100000 parts/);
        }
      }),
    );
  });
});
