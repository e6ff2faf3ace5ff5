import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { Door } from '../../call/call.ts';
import type { BidiStreamHandler, ServerStreamHandler, ServiceBinding, UnaryHandler } from './service-binding.ts';

export type Method = UnaryMethod | ServerStreamMethod | BidiStreamMethod;

export interface UnaryMethod extends MethodCodec {
  readonly kind: 'unary';
  readonly run: UnaryHandler<Message, Message>;
  /** The same for callers in JSON: a text is the answer as they get it. Absent: `run` serves them too. */
  readonly runInJson?: UnaryHandler<Message, Message | string> | undefined;
  /** The same for callers in protobuf, who get bytes. */
  readonly runInBinary?: UnaryHandler<Message, Message | Uint8Array> | undefined;
}

export interface ServerStreamMethod extends MethodCodec {
  readonly kind: 'server_streaming';
  readonly run: ServerStreamHandler<Message, Message>;
}

export interface BidiStreamMethod extends MethodCodec {
  readonly kind: 'bidi_streaming';
  readonly run: BidiStreamHandler<Message, Message>;
  /** As of a unary method. */
  readonly runInJson?: BidiStreamHandler<Message, Message | string> | undefined;
  readonly runInBinary?: BidiStreamHandler<Message, Message | Uint8Array> | undefined;
}

interface MethodCodec {
  /** As on the wire: `/sallyport.v1.ToolService/ExecuteTool`. */
  readonly path: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  readonly isWhole: boolean;
}

/** The methods that exist at one door, by path. */
export type MethodTable = ReadonlyMap<string, Method>;

export function tabulateMethods(services: readonly ServiceBinding[], door: Door): MethodTable {
  const table = new Map<string, Method>();
  for (const { service, methods, writing, doors, whole = [] } of services) {
    if (!doors.includes(door)) continue;
    for (const { name, localName, methodKind, input, output } of service.methods) {
      const path = `/${service.typeName}/${name}`;
      const isWhole = whole === 'all' || whole.includes(localName);
      const run = methods[localName];
      const runInJson = writing?.inJson?.[localName];
      const runInBinary = writing?.inBinary?.[localName];
      table.set(path, { path, kind: methodKind, run, runInJson, runInBinary, input, output, isWhole } as Method);
    }
  }
  return table;
}
