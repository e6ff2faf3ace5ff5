import { grpcStatusOf } from '@sallyport/contract';
import type { RpcError } from './rpc-error.ts';

export interface GrpcTrailers {
  readonly 'grpc-status': string;
  readonly 'grpc-message'?: string;
}

export const okTrailers: GrpcTrailers = { 'grpc-status': '0' };

export function describeGrpcError({ code, message }: RpcError): GrpcTrailers {
  // Half a surrogate pair cannot be percent-encoded.
  return { 'grpc-status': String(grpcStatusOf(code)), 'grpc-message': encodeURI(message.toWellFormed()) };
}
