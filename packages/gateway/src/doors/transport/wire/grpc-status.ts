import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { grpcStatusOf } from '@sallyport/contract';
import type { ErrorDetail, RpcError } from '../rpc-error.ts';

export interface GrpcTrailers {
  readonly 'grpc-status': string;
  readonly 'grpc-message'?: string;
  readonly 'grpc-status-details-bin'?: string;
}

export const okTrailers: GrpcTrailers = { 'grpc-status': '0' };

/** Clients take 8 KiB of headers and trailers; a message is worth more than its details. */
const largestDetails = 4096;

export function describeGrpcError({ code, message, details }: RpcError): GrpcTrailers {
  const status = grpcStatusOf(code);
  const trailers = {
    'grpc-status': String(status),
    // Half a surrogate pair cannot be percent-encoded.
    'grpc-message': encodeURI(message.toWellFormed()),
  };
  const size = details.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (details.length === 0 || size > largestDetails) return trailers;
  return { ...trailers, 'grpc-status-details-bin': encodeStatus(status, message, details).toString('base64') };
}

/** `google.rpc.Status`, in which gRPC carries details: code = 1, message = 2, details = 3, each an `Any`. */
function encodeStatus(status: number, message: string, details: readonly ErrorDetail[]): Buffer {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int32(status);
  writer.tag(2, WireType.LengthDelimited).string(message.toWellFormed());
  for (const { type, bytes } of details) {
    writer.tag(3, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(`type.googleapis.com/${type}`);
    writer.tag(2, WireType.LengthDelimited).bytes(bytes);
    writer.join();
  }
  return Buffer.from(writer.finish());
}
