import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clone, create, equals, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { ToolRequestSchema, ToolResponseSchema } from '@sallyport/contract';
import type { ToolRequest } from '@sallyport/contract';
import fc from 'fast-check';
import { requirement } from '../requirement.ts';
import { toolRequests, toolResponses } from './request-arbitraries.ts';
import { encodeElsewhere } from './typed-client.ts';
import type { Request } from './typed-client.ts';

const encode = (request: ToolRequest): Buffer => Buffer.from(toBinary(ToolRequestSchema, request));
const decode = (bytes: Uint8Array): ToolRequest => fromBinary(ToolRequestSchema, bytes);

describe('the encoding of requests and responses', () => {
  it('is the same for the same fields, however the message came about', () => {
    requirement('WIRE-3');
    fc.assert(
      fc.property(toolRequests, (request) => {
        const bytes = encode(request);
        assert.deepEqual(encode(request), bytes);
        assert.deepEqual(encode(clone(ToolRequestSchema, request)), bytes);
        const { tool, dedupeKey, sessionToken, requestId } = request;
        assert.deepEqual(encode(create(ToolRequestSchema, { tool, dedupeKey, sessionToken, requestId })), bytes);
      }),
    );
  });

  it('loses nothing on the way there and back', () => {
    requirement('WIRE-3');
    fc.assert(
      fc.property(toolRequests, (request) => {
        const bytes = encode(request);
        const decoded = decode(bytes);
        assert.ok(equals(ToolRequestSchema, decoded, request));
        assert.deepEqual(encode(decoded), bytes);
      }),
    );
    fc.assert(
      fc.property(toolResponses, (response) => {
        const bytes = toBinary(ToolResponseSchema, response);
        const decoded = fromBinary(ToolResponseSchema, bytes);
        assert.ok(equals(ToolResponseSchema, decoded, response));
        assert.deepEqual(toBinary(ToolResponseSchema, decoded), bytes);
      }),
    );
  });

  it('is the encoding of another implementation, byte for byte', () => {
    requirement('WIRE-3');
    fc.assert(
      fc.property(toolRequests, (request) => {
        // Its names are those of the proto file, its bytes are base64 and its long numbers text: like JSON.
        const fields = toJson(ToolRequestSchema, request, { useProtoFieldName: true }) as Request;
        assert.deepEqual(encode(request), encodeElsewhere(fields));
      }),
    );
  });

  it('keeps fields of later versions when a message is passed on, behind those that are known', () => {
    requirement('WIRE-3');
    fc.assert(
      fc.property(toolRequests, fc.integer({ min: 100, max: 500 }), fc.uint8Array(), (request, tag, content) => {
        const known = encode(request);
        const unknown = new BinaryWriter().tag(tag, WireType.LengthDelimited).bytes(content).finish();
        assert.deepEqual(encode(decode(Buffer.concat([unknown, known]))), Buffer.concat([known, unknown]));
      }),
    );
  });
});
