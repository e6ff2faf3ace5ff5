import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromJson, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, StructSchema } from '@bufbuild/protobuf/wkt';
import { ExecuteToolRequestSchema, ListAvailableToolsResponseSchema } from '@sallyport/contract';
import fc from 'fast-check';
import { requirement } from '../../../../../../test/requirement.ts';
import { checkWire } from './check-wire.ts';

const refusal = { code: 'invalid_argument' };
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('checkWire', () => {
  it('refuses large messages of tiny fields, known or unknown, at any depth', () => {
    requirement('NFR-4');
    const unknown = Buffer.alloc(300_003, Buffer.from([0xf8, 0x07, 0x01]));
    assert.throws(() => checkWire(ExecuteToolRequestSchema, unknown), refusal);
    // `context`, field 6, is a message.
    const nested = Buffer.concat([Buffer.from([0x32, 0xe3, 0xa7, 0x12]), unknown]);
    assert.throws(() => checkWire(ExecuteToolRequestSchema, nested), refusal);
    const emptyTools = Buffer.alloc(200_002, Buffer.from([0x0a, 0x00]));
    assert.throws(() => checkWire(ListAvailableToolsResponseSchema, emptyTools), refusal);
    const groups = Buffer.alloc(200_001, 0x0b);
    assert.throws(() => checkWire(ExecuteToolRequestSchema, groups), refusal);
    // `public_dependency`, field 10, is a list of numbers.
    const packed = Buffer.concat([Buffer.from([0x52, 0xe0, 0xa7, 0x12]), Buffer.alloc(300_000, 1)]);
    assert.throws(() => checkWire(FileDescriptorProtoSchema, packed), refusal);
  });

  it('lets long texts pass, whatever they hold', () => {
    const inputJson = Buffer.alloc(300_000, Buffer.from([0x0b, 0xf8, 0x07]));
    const message = Buffer.concat([Buffer.from([0x0a, 0x01, 0x78, 0x12, 0xe0, 0xa7, 0x12]), inputJson]);
    assert.doesNotThrow(() => checkWire(ExecuteToolRequestSchema, message));
  });

  it('refuses a known field with any wire type but its own', () => {
    requirement('WIRE-3');
    // The decoder alone reads the first as a tool named "A".
    for (const bytes of ['08 01 41', '09 0141414141414141', '0d 01414141', '0b 0c', '1a 01 41', '33 34']) {
      assert.throws(() => checkWire(ExecuteToolRequestSchema, hex(bytes)), refusal, bytes);
    }
    assert.throws(() => checkWire(ExecuteToolRequestSchema, hex('08 01 41')), /field name has wire type 0, not 2/);
    // `context`, field 6, with a number for a text in it.
    assert.throws(() => checkWire(ExecuteToolRequestSchema, hex('32 02 08 41')), refusal);
    // A map's key, and its value, a message.
    for (const bytes of ['0a 02 08 41', '0a 02 10 41'])
      assert.throws(() => checkWire(StructSchema, hex(bytes)), refusal);
  });

  it('refuses what reads on behind the end of its message, and elements that are not whole', () => {
    requirement('WIRE-3');
    for (const bytes of [
      '32 03 0a 05 61 62 63 64 65',
      '32 02 0a 01 61',
      '0a 02 61',
      '32 01 0a',
      '18 80',
      '00',
      '0c',
      '0e',
    ]) {
      assert.throws(() => checkWire(ExecuteToolRequestSchema, hex(bytes)), refusal, bytes);
    }
    assert.throws(() => checkWire(FileDescriptorProtoSchema, hex('52 02 01 80')), refusal);
    assert.throws(() => checkWire(ExecuteToolRequestSchema, Buffer.alloc(300, 0xfb)), refusal);
  });

  it('takes whatever an encoder writes, and unknown fields of every kind', () => {
    const { proto } = ExecuteToolRequestSchema.file;
    checkWire(FileDescriptorProtoSchema, toBinary(FileDescriptorProtoSchema, proto));
    const struct = { a: 1, b: ['x', null, { c: true }], d: { e: -0.5 } };
    checkWire(StructSchema, toBinary(StructSchema, fromJson(StructSchema, struct)));
    const unknown = '9a06 02 6869 a006 07 a906 0102030405060708 b506 01020304 bb06 0801 bc06';
    checkWire(ExecuteToolRequestSchema, hex(unknown));
    // Numbers may stand back to back or one by one, and may be longer than they need to be.
    for (const bytes of ['52 02 01 02', '50 01 50 02', '50 ffffffffffffffffff01']) {
      checkWire(FileDescriptorProtoSchema, hex(bytes));
    }
  });

  it('comes to an end on any bytes', () => {
    requirement('WIRE-3');
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (piece) => {
        try {
          checkWire(ListAvailableToolsResponseSchema, Buffer.alloc(70_000, piece));
        } catch (error) {
          assert.match(String(error), /more than 100000 parts|The request is not a /);
        }
      }),
    );
  });
});
