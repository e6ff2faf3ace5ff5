import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ToolRequestSchema } from '@sallyport/contract';
import fc from 'fast-check';
import { requirement } from '../requirement.ts';
import { toolRequests } from './request-arbitraries.ts';
import { InMemoryDoor } from './in-memory-door.ts';

const door = new InMemoryDoor();

const encode = (request: MessageInitShape<typeof ToolRequestSchema>): Buffer =>
  Buffer.from(toBinary(ToolRequestSchema, create(ToolRequestSchema, request)));
const read = encode({ requestId: 'r', sessionToken: 's', tool: { case: 'fileRead', value: { path: 'a' } } });
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

async function inputOf(bytes: Uint8Array): Promise<Record<string, unknown>> {
  const fate = await door.receive(bytes);
  assert.ok(fate.kind === 'submitted', fate.kind);
  return JSON.parse(fate.call.input) as Record<string, unknown>;
}

async function assertUndecodable(bytes: Uint8Array): Promise<void> {
  const fate = await door.receive(bytes);
  assert.ok(fate.kind === 'undecodable', fate.kind);
  assert.equal(fate.error.code, 'invalid_argument');
  assert.ok(fate.error.message.length < 400);
}

describe('bytes that no honest client sends', () => {
  it('with unknown fields are understood without them, and nothing of them goes on', async () => {
    requirement('WIRE-3', 'NFR-4');
    // 99: text, 100: varint, 101: 64 bits, 102: 32 bits, 103: a group, and one inside the tool.
    const unknown = hex('9a06 02 6869 a006 07 a906 0102030405060708 b506 01020304 bb06 0801 bc06');
    const inner = Buffer.concat([Buffer.of(0x52, 6), hex('0a 01 61'), hex('fa 01 00')]);
    assert.deepEqual(await inputOf(Buffer.concat([unknown, read])), await inputOf(read));
    assert.deepEqual(await inputOf(Buffer.concat([read, unknown])), await inputOf(read));
    assert.deepEqual(await inputOf(Buffer.concat([read.subarray(0, 6), inner])), await inputOf(read));
  });

  it('with several tools stand for the last one, and that is what is judged', async () => {
    requirement('WIRE-3', 'PIPE-3');
    const toolOf = (tool: MessageInitShape<typeof ToolRequestSchema>['tool']) =>
      encode(tool === undefined ? {} : { tool });
    const write = toolOf({ case: 'fileWrite', value: { path: 'w' } });
    const readAgain = toolOf({ case: 'fileRead', value: { path: 'last' } });
    const twice = await door.receive(Buffer.concat([read, write]));
    assert.ok(twice.kind === 'submitted');
    assert.equal(twice.call.toolName, 'files.write');
    assert.deepEqual(JSON.parse(twice.call.input), await inputOf(Buffer.concat([read.subarray(0, 6), write])));
    assert.equal((await inputOf(Buffer.concat([read, write, readAgain])))['path'], 'last');
  });

  it('with one field several times stand for the last value', async () => {
    requirement('WIRE-3');
    assert.equal((await inputOf(Buffer.concat([read, hex('52 03 0a 01 62')])))['path'], 'b');
  });

  it('cut off anywhere are an error or a shorter request, never another failure', async () => {
    requirement('WIRE-3', 'NFR-4');
    for (let length = 0; length < read.length; length++) await door.receive(read.subarray(0, length));
    await assertUndecodable(read.subarray(0, -1));
    await fc.assert(
      fc.asyncProperty(toolRequests, fc.nat(), async (request, cut) => {
        const bytes = toBinary(ToolRequestSchema, request);
        await door.receive(bytes.subarray(0, bytes.length === 0 ? 0 : cut % bytes.length));
      }),
    );
  });

  it('that claim a length they do not have take no memory for it', async () => {
    requirement('WIRE-3', 'NFR-4');
    const before = process.memoryUsage().arrayBuffers;
    for (const length of ['ffffffff07', 'ffffffff0f', '8080808010', 'ffffff7f', 'ffffffffffffffffff01']) {
      // As a text, as a message and as an unknown field.
      for (const tag of ['0a', '52', 'fa01']) await assertUndecodable(hex(`${tag} ${length} 61`));
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < 10_000_000);
  });

  it('nested very deep are an error, not the end of the stack', async () => {
    requirement('WIRE-3', 'NFR-4');
    for (const depth of [101, 10_000, 30_000]) {
      await assertUndecodable(Buffer.concat([read, Buffer.alloc(depth, 0x1b)]));
      await assertUndecodable(Buffer.concat([read, Buffer.alloc(depth, 0x1b), Buffer.alloc(depth, 0x1c)]));
    }
  });

  it('with text that is no UTF-8 are an error', async () => {
    requirement('WIRE-3', 'NFR-4');
    const invalid = ['ff', 'c0af', 'c080', 'eda080', 'f4908080', '61e2', '80'];
    for (const text of invalid) {
      const bytes = hex(text);
      await assertUndecodable(Buffer.concat([Buffer.of(0x0a, bytes.length), bytes]));
      const path = Buffer.concat([Buffer.of(0x0a, bytes.length), bytes]);
      await assertUndecodable(Buffer.concat([read.subarray(0, 6), Buffer.of(0x52, path.length), path]));
    }
  });

  it('with the wrong wire types, impossible tags and endless numbers are an error', async () => {
    requirement('WIRE-3', 'NFR-4');
    // Tag 0, a group that ends before it began, wire types 6 and 7, a number of eleven bytes.
    for (const bytes of ['00', '0c', '0e', '0f', '10ffffffffffffffffffffff01']) await assertUndecodable(hex(bytes));
    for (const wireType of [0, 1, 3, 4, 5, 6, 7]) {
      for (const field of [1, 2, 3, 10, 12, 13, 16]) {
        const tag = Buffer.of(((field << 3) | wireType) & 0x7f, ...(field > 15 ? [1] : []));
        if (field > 15) tag[0] = (tag[0] ?? 0) | 0x80;
        for (const content of ['0141', '0141414141414141', '01414141']) {
          await assertUndecodable(Buffer.concat([tag, hex(content), read]));
          await assertUndecodable(Buffer.concat([read, tag, hex(content)]));
        }
      }
    }
  });

  it('with a field that reads on behind the end of its message are an error', async () => {
    requirement('WIRE-3', 'NFR-4');
    // The path claims more bytes than the tool that it stands in; what follows would become a part of it.
    await assertUndecodable(Buffer.concat([read.subarray(0, 6), hex('52 03 0a 04 61'), hex('1a 01 62')]));
  });

  it('with a hundred thousand entries are turned away before they are unpacked', async () => {
    requirement('NFR-4');
    const entries = Buffer.alloc(400_000, hex('2a00'));
    const length = hex('80b518');
    await assertUndecodable(Buffer.concat([read.subarray(0, 6), Buffer.of(0x6a), length, entries]));
  });

  it('from nowhere at all are an error or a request', async () => {
    requirement('WIRE-3', 'NFR-4');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => void (await door.receive(bytes))),
    );
  });
});

describe('JSON that no honest client sends', () => {
  const json = (tool: string): string => `{"requestId":"r","sessionToken":"s",${tool}}`;

  it('with half a surrogate pair is an error', async () => {
    requirement('WIRE-3', 'NFR-4');
    const half = String.raw`\ud800`;
    for (const tool of [`"fileRead":{"path":"${half}"}`, `"shellExec":{"command":"x","env":["A=${half}"]}`]) {
      assert.equal((await door.receiveJson(json(tool))).kind, 'undecodable');
    }
  });

  it('with values of the wrong type, out of range or in two tools at once is an error', async () => {
    requirement('WIRE-3', 'NFR-4');
    const bad = [
      '"fileRead":{"path":1}',
      '"fileRead":{"path":"a","offset":"-1"}',
      '"fileRead":{"path":"a","offset":"18446744073709551616"}',
      '"fileRead":{"path":"a","offset":1.5}',
      '"fileRead":{"path":"a"},"fileEdit":{"path":"b"}',
      '"fileWrite":{"path":"a","content":"not base64!"}',
      '"shellExec":{"command":"x","env":{"A":"1"}}',
      '"fileRead":[]',
      '"fileRead":',
    ];
    for (const tool of bad) assert.equal((await door.receiveJson(json(tool))).kind, 'undecodable', tool);
  });

  it('with members of later versions is understood without them', async () => {
    requirement('WIRE-3');
    const fate = await door.receiveJson(json('"fileRead":{"path":"a","x":1},"y":{"z":[]}'));
    assert.ok(fate.kind === 'submitted');
    assert.deepEqual(JSON.parse(fate.call.input), await inputOf(read));
  });
});
