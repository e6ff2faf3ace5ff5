import { wholeText } from '@sallyport/contract';
import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import type { DescMessage, JsonValue, Message } from '@bufbuild/protobuf';
import { TooManyParts } from '../../../text/json-parts.ts';
import { largeJson, largeLength } from '../../../text/large-json.ts';
import { parsePlainJson, PlainJsonError, readUtf8 } from '../../../text/plain-json.ts';
import { checkJsonShape, tooManyParts } from './check-shape.ts';
import { checkWire } from './check-wire.ts';
import type { BidiStreamMethod, Method, UnaryMethod } from '../method-table.ts';
import type { Peer } from '../peer.ts';
import type { BidiStreamHandler } from '../service-binding.ts';
import { RpcError } from '../rpc-error.ts';

// A field that this version does not know is dropped, in JSON as in binary, so that newer clients are understood.
const jsonReadOptions = { ignoreUnknownFields: true };
const binaryReadOptions = { readUnknownFields: false };
const longestReason = 1000;

export function decodeBinary({ input }: Method, bytes: Uint8Array): Message {
  checkWire(input, bytes);
  try {
    return fromBinary(input, bytes, binaryReadOptions);
  } catch (error) {
    throw undecodable(input, error);
  }
}

export function decodeJson({ input }: Method, bytes: Buffer): Message {
  checkJsonShape(bytes);
  try {
    return fromJson(input, parsePlainJson(readUtf8(bytes)) as JsonValue, jsonReadOptions);
  } catch (error) {
    throw undecodable(input, error);
  }
}

/** The same for a large message, on another thread. Takes the bytes away. */
async function decodeLargeJson({ input }: Method, bytes: Buffer): Promise<Message> {
  const value = await largeJson.parseMessage(bytes).catch((error: unknown) => {
    if (error instanceof TooManyParts) throw tooManyParts();
    throw error instanceof PlainJsonError ? undecodable(input, error) : error;
  });
  try {
    return fromJson(input, value as JsonValue, jsonReadOptions);
  } catch (error) {
    throw undecodable(input, error);
  }
}

export function encodeBinary({ output }: Method, message: Message): Uint8Array {
  return toBinary(output, message);
}

export function encodeJson({ output, isWhole }: Method, message: Message): string {
  return JSON.stringify(toJson(output, message, { alwaysEmitImplicit: isWhole }));
}

/** One unary call in JSON. */
export async function answerInJson(method: UnaryMethod, body: Buffer, peer: Peer): Promise<string> {
  const message = body.length < largeLength ? decodeJson(method, body) : await decodeLargeJson(method, body);
  const answer = await (method.runInJson ?? method.run)(message, peer);
  return typeof answer === 'string' ? answer : encodeJson(method, answer);
}

/** One unary call in protobuf. */
export async function answerInBinary(method: UnaryMethod, body: Uint8Array, peer: Peer): Promise<Uint8Array> {
  const answer = await (method.runInBinary ?? method.run)(decodeBinary(method, body), peer);
  return answer instanceof Uint8Array ? answer : encodeBinary(method, answer);
}

/** What a handler yields: a message, or one that it has written in the form of the stream. */
export type Yielded = Message | string | Uint8Array;

/** How the messages of a stream are written. */
export interface MessageFormat {
  readonly name: 'binary' | 'json';
  readonly decode: (method: Method, bytes: Buffer) => Message;
  readonly encode: (method: Method, message: Yielded) => Uint8Array | string;
  /** Who answers callers in this form. */
  readonly handlerOf: (method: BidiStreamMethod) => BidiStreamHandler<Message, Yielded>;
}

export const inBinary: MessageFormat = {
  name: 'binary',
  decode: decodeBinary,
  encode: (method, message) => (message instanceof Uint8Array ? message : encodeBinary(method, message as Message)),
  handlerOf: (method) => method.runInBinary ?? method.run,
};
export const inJson: MessageFormat = {
  name: 'json',
  decode: decodeJson,
  encode: (method, message) => (typeof message === 'string' ? message : encodeJson(method, message as Message)),
  handlerOf: (method) => method.runInJson ?? method.run,
};

function undecodable(input: DescMessage, error: unknown): RpcError {
  const reason = error instanceof Error ? error.message : String(error);
  // After the first colon the reason may quote the caller, who is quoted whole or not at all.
  const [opening = ''] = reason.split(':');
  const shown = wholeText(reason.length > longestReason ? opening : reason, longestReason);
  return new RpcError('invalid_argument', `The request is not a ${input.typeName}: ${shown}`);
}
