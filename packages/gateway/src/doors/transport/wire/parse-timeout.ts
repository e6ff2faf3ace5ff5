import { RpcError } from '../rpc-error.ts';

/** What a timer can hold: 24 days. A caller who waits longer is served without a deadline of their own making. */
const maxTimeoutMs = 2 ** 31 - 1;

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** `grpc-timeout`, such as `250m`. Undefined: no limit. */
export function parseGrpcTimeout(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const match = /^(\d{1,8})([HMSmun])$/.exec(header);
  if (match === null) throw new RpcError('invalid_argument', 'grpc-timeout must be 1 to 8 digits and a unit.');
  return Math.min(Math.ceil(Number(match[1]) * (unitMs[match[2] ?? ''] ?? 1)), maxTimeoutMs);
}

/** `connect-timeout-ms`. Undefined: no limit. */
export function parseConnectTimeout(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (!/^\d{1,10}$/.test(header)) throw new RpcError('invalid_argument', 'connect-timeout-ms must be 1 to 10 digits.');
  return Math.min(Number(header), maxTimeoutMs);
}
