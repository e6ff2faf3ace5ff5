import { Server, ServerCredentials } from '@grpc/grpc-js';

// The floor: what a gRPC server costs that does nothing at all.
const server = new Server();
const identity = (value: Buffer): Buffer => value;
server.addService(
  {
    echo: {
      path: '/bench.Echo/Echo',
      requestStream: false,
      responseStream: false,
      requestSerialize: identity,
      requestDeserialize: identity,
      responseSerialize: identity,
      responseDeserialize: identity,
    },
  },
  {
    echo: (call: { request: Buffer }, callback: (error: null, value: Buffer) => void) => callback(null, call.request),
  },
);
server.bindAsync(process.argv[2] ?? '127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.stdout.write(`${port}\n`);
});
