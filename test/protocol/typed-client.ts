import { join } from 'node:path';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import type {
  CallOptions,
  ClientDuplexStream,
  ClientUnaryCall,
  ServiceClientConstructor,
  ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { root } from '../../scripts/workspace.ts';

// Our proto files, read at run time by another implementation of protobuf: nothing of ours judges itself.
const definition = loadSync('sallyport/v1/tool_protocol.proto', {
  includeDirs: [join(root, 'packages/contract/proto')],
  keepCase: true,
  longs: String,
  defaults: true,
  oneofs: true,
});
const loaded = loadPackageDefinition(definition) as unknown as {
  readonly sallyport: { readonly v1: { readonly ToolProtocolService: ServiceClientConstructor } };
};

export interface Request {
  readonly request_id?: string;
  readonly session_token?: string;
  readonly dedupe_key?: string;
  readonly [tool: string]: unknown;
}

/** As the other implementation shows it: 64-bit numbers as text, `result` names the one that is set. */
export interface Response {
  readonly request_id: string;
  readonly result: 'success' | 'denied' | 'error';
  readonly success?: {
    readonly result_hash: Buffer;
    readonly inline_result: Buffer;
    readonly budget_consumed: string;
    readonly duration_ms: string;
  };
  readonly denied?: {
    readonly rule_id: string;
    readonly rationale_code: string;
    readonly message: string;
    readonly remedy: string;
    readonly violations: readonly { readonly field: string; readonly rule: string; readonly message: string }[];
  };
  readonly error?: {
    readonly error_code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly retry_after_ms: string;
  };
}

export interface TypedClient {
  /** Rejects with the library's ServiceError. */
  readonly execute: (request: Request, options?: ExecuteOptions) => Promise<Response>;
  readonly executeStream: () => ClientDuplexStream<Request, Response>;
  readonly close: () => void;
}

export interface ExecuteOptions extends CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Receives the call, to cancel it. */
  readonly onCall?: (call: ClientUnaryCall) => void;
}

type Execute = (
  request: Request,
  metadata: Metadata,
  options: CallOptions,
  callback: (error: ServiceError | null, response: Response) => void,
) => ClientUnaryCall;

/** `target`: a port of loopback, or the path of a unix socket. */
export function openTypedClient(target: number | string): TypedClient {
  const address = typeof target === 'number' ? `127.0.0.1:${target}` : `unix:${target}`;
  const client = new loaded.sallyport.v1.ToolProtocolService(address, credentials.createInsecure());
  const methods = client as unknown as { Execute: Execute; ExecuteStream: TypedClient['executeStream'] };
  return {
    execute: (request, { headers = {}, onCall, ...options } = {}) => {
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      return new Promise((resolve, reject) => {
        const call = methods.Execute(request, metadata, options, (error, response) => {
          if (error === null) resolve(response);
          else reject(error);
        });
        onCall?.(call);
      });
    },
    executeStream: () => methods.ExecuteStream(),
    close: () => client.close(),
  };
}

/** How the other implementation encodes a request. */
export function encodeElsewhere(request: Request): Buffer {
  const service = definition['sallyport.v1.ToolProtocolService'] as ServiceDefinition;
  return (service['Execute'] as MethodDefinition<Request, Response>).requestSerialize(request);
}
