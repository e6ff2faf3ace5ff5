import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import type {
  CallOptions,
  ClientDuplexStream,
  ClientOptions,
  ClientReadableStream,
  ClientUnaryCall,
  GrpcObject,
  ServiceClientConstructor,
  ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { Target } from './http-exchange.ts';

const protoFolder = fileURLToPath(new URL('../../packages/contract/proto', import.meta.url));

// Read from the proto files by another implementation of protobuf, so that nothing of ours judges itself.
const definitions = loadPackageDefinition(
  loadSync(
    [
      'sallyport/v1/tool_service.proto',
      'sallyport/v1/operator_service.proto',
      'grpc/health/v1/health.proto',
      'grpc/reflection/v1/reflection.proto',
      'grpc/reflection/v1alpha/reflection.proto',
      'chat.proto',
    ],
    {
      includeDirs: [protoFolder, import.meta.dirname],
      keepCase: true,
      enums: String,
      longs: String,
      defaults: true,
      oneofs: true,
    },
  ),
);

export type Fields = Record<string, unknown>;

/** What the library builds at run time, with the types that it cannot know. */
export interface GrpcClient {
  readonly close: () => void;
  readonly [method: string]: unknown;
}

export function openGrpcClient(
  test: TestContext,
  service: string,
  target: Target,
  options: ClientOptions = {},
): GrpcClient {
  const constructor = service
    .split('.')
    .reduce<GrpcObject[string]>((scope, name) => (scope as GrpcObject)[name] as GrpcObject[string], definitions);
  const address = typeof target === 'number' ? `127.0.0.1:${target}` : `unix:${target}`;
  const client = new (constructor as ServiceClientConstructor)(address, credentials.createInsecure(), options);
  test.after(() => client.close());
  return client;
}

export interface UnaryOptions extends CallOptions {
  readonly metadata?: Metadata;
  /** Receives the call, to cancel it. */
  readonly onCall?: (call: ClientUnaryCall) => void;
}

type UnaryMethod = (
  request: Fields,
  metadata: Metadata,
  options: CallOptions,
  callback: (error: ServiceError | null, answer: Fields) => void,
) => ClientUnaryCall;

/** Rejects with the library's ServiceError. */
export function callUnary(
  client: GrpcClient,
  method: string,
  request: Fields,
  options: UnaryOptions = {},
): Promise<Fields> {
  const { metadata = new Metadata(), onCall, ...callOptions } = options;
  return new Promise((resolve, reject) => {
    const invoke = client[method] as UnaryMethod;
    const call = invoke.call(client, request, metadata, callOptions, (error, answer) => {
      if (error === null) resolve(answer);
      else reject(error);
    });
    onCall?.(call);
  });
}

export function openServerStream(
  client: GrpcClient,
  method: string,
  request: Fields,
  headers: Readonly<Record<string, string>> = {},
): ClientReadableStream<Fields> {
  const invoke = client[method] as (request: Fields, metadata: Metadata) => ClientReadableStream<Fields>;
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return invoke.call(client, request, metadata);
}

export function openBidiStream(client: GrpcClient, method: string): ClientDuplexStream<Fields, Fields> {
  const invoke = client[method] as () => ClientDuplexStream<Fields, Fields>;
  return invoke.call(client);
}
