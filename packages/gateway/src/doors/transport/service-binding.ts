import type { DescMethod, DescService, Message, MessageShape } from '@bufbuild/protobuf';
import type { Door } from '../../call/call.ts';
import type { Peer } from './peer.ts';

export type UnaryHandler<Input, Output> = (request: Input, peer: Peer) => Promise<Output>;
/** Ends when it returns. `peer.signal` aborts when the doors close: a server stream has no other natural end. */
export type ServerStreamHandler<Input, Output> = (request: Input, peer: Peer) => AsyncIterable<Output>;
/**
 * Both ways, messages that are there at the same time come together. `requests` ends when the caller has said all, and
 * when the doors close: answer what came in, then return.
 */
export type BidiStreamHandler<Input, Output> = (
  requests: AsyncIterable<readonly Input[]>,
  peer: Peer,
) => AsyncIterable<readonly Output[]>;

export type HandlerOf<Method extends Pick<DescMethod, 'methodKind' | 'input' | 'output'>> = {
  unary: UnaryHandler<MessageShape<Method['input']>, MessageShape<Method['output']>>;
  server_streaming: ServerStreamHandler<MessageShape<Method['input']>, MessageShape<Method['output']>>;
  bidi_streaming: BidiStreamHandler<MessageShape<Method['input']>, MessageShape<Method['output']>>;
  /** A bidirectional method that answers once serves the same need. */
  client_streaming: never;
}[Method['methodKind']];

export type HandlersOf<Service extends DescService> = {
  readonly [Name in keyof Service['method']]: HandlerOf<Service['method'][Name]>;
};

/** For those methods that write some answers themselves: a text, or bytes, is the answer as the caller gets it. */
export type HandlersWriting<Written, Service extends DescService> = {
  readonly [Name in keyof Service['method']]?: WritingHandlerOf<Written, Service['method'][Name]>;
};

type WritingHandlerOf<Written, Method extends Pick<DescMethod, 'methodKind' | 'input' | 'output'>> = {
  unary: UnaryHandler<MessageShape<Method['input']>, MessageShape<Method['output']> | Written>;
  server_streaming: never;
  bidi_streaming: BidiStreamHandler<MessageShape<Method['input']>, MessageShape<Method['output']> | Written>;
  client_streaming: never;
}[Method['methodKind']];

/** By the form in which the caller takes answers. Absent: those callers get messages, too. */
export interface WritingHandlers<Service extends DescService> {
  readonly inJson?: HandlersWriting<string, Service>;
  readonly inBinary?: HandlersWriting<Uint8Array, Service>;
}

export type AnyHandler =
  | UnaryHandler<Message, Message>
  | ServerStreamHandler<Message, Message>
  | BidiStreamHandler<Message, Message>;

/** A service and who answers it. Made by `bindService`, which ties each handler to the types of its method. */
export interface ServiceBinding {
  readonly service: DescService;
  /** By the method's name in TypeScript. */
  readonly methods: Readonly<Record<string, AnyHandler>>;
  /** At any other door the service does not exist. */
  readonly doors: readonly Door[];
  /** See `WritingHandlers`. Absent: there are none. */
  readonly writing?: Readonly<Partial<Record<'inJson' | 'inBinary', Readonly<Record<string, unknown>>>>>;
  /** Methods whose answers in JSON have every field, with its default if need be: see `InJson`. Others: as proto3 has it. */
  readonly whole?: 'all' | readonly string[];
}

export function bindService<Service extends DescService>(
  service: Service,
  doors: readonly Door[],
  methods: HandlersOf<Service>,
  writing?: WritingHandlers<Service>,
): ServiceBinding {
  return {
    service,
    doors,
    methods: methods as unknown as Record<string, AnyHandler>,
    ...(writing && { writing }),
  };
}
