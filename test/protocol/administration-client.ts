import { join } from 'node:path';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import type { GrpcObject, ServiceClientConstructor, ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { root } from '../../scripts/workspace.ts';

export type Fields = Readonly<Record<string, unknown>>;

// Our proto files, read at run time by another implementation of protobuf and of gRPC: nothing of ours judges itself.
const definition = loadSync(
  [
    'sallyport/v1/session_service.proto',
    'sallyport/v1/lease_service.proto',
    'sallyport/v1/tool_service.proto',
    'error-status.proto',
  ],
  {
    includeDirs: [join(root, 'packages/contract/proto'), import.meta.dirname],
    keepCase: true,
    longs: Number,
    defaults: true,
    oneofs: true,
  },
);
const services = (loadPackageDefinition(definition)['sallyport'] as GrpcObject)['v1'] as GrpcObject;

type Unary = (
  request: Fields,
  metadata: Metadata,
  callback: (error: ServiceError | null, response: Fields) => void,
) => void;

/** A client of another make for one of the services. `target`: `host:port`, or the path of a unix socket. */
export function openAdministration(service: 'SessionService' | 'LeaseService', target: string, token: string) {
  const address = target.startsWith('/') ? `unix:${target}` : target;
  const client = new (services[service] as ServiceClientConstructor)(address, credentials.createInsecure());
  const metadata = new Metadata();
  if (token !== '') metadata.set('authorization', `Bearer ${token}`);
  return {
    methods: Object.keys((services[service] as ServiceClientConstructor).service),
    /** Rejects with the library's ServiceError. */
    call: (method: string, request: Fields = {}): Promise<Fields> =>
      new Promise((resolve, reject) => {
        const send = (client as unknown as Readonly<Record<string, Unary>>)[method];
        send?.call(client, request, metadata, (error, response) =>
          error === null ? resolve(response) : reject(error),
        );
      }),
    close: () => client.close(),
  };
}

/** The ExecuteToolResponse in the details of an error. */
export function readDetail({ code, metadata }: ServiceError): Fields {
  const [bytes] = metadata.get('grpc-status-details-bin');
  const status = decode('google.rpc.StatusCarrier', 'Carry', bytes as Buffer);
  if (status['code'] !== code) throw new Error(`the details say ${String(status['code'])}`);
  const [detail] = status['details'] as { readonly type_url: string; readonly value: Buffer }[];
  if (detail?.type_url !== 'type.googleapis.com/sallyport.v1.ExecuteToolResponse') throw new Error(detail?.type_url);
  return decode('sallyport.v1.ToolService', 'ExecuteTool', detail.value);
}

function decode(service: string, method: string, bytes: Buffer): Fields {
  const methods = definition[service] as ServiceDefinition;
  return (methods[method] as MethodDefinition<Fields, Fields>).responseDeserialize(bytes);
}
