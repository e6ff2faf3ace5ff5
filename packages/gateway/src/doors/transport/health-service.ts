import { setTimeout as delay } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { health, wholeText } from '@sallyport/contract';
import { doors } from '../../call/call.ts';
import type { Door } from '../../call/call.ts';
import type { HttpRoute } from './http-route.ts';
import type { Peer } from './peer.ts';
import { RpcError } from './rpc-error.ts';
import { bindService } from './service-binding.ts';
import type { ServiceBinding } from './service-binding.ts';

export interface Health {
  readonly status: 'serving' | 'sealed';
  /** Why it is sealed. */
  readonly reason?: string;
}

export type ReadHealth = () => Health;

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = health.HealthCheckResponse_ServingStatus;
type ServingStatus = health.HealthCheckResponse_ServingStatus;

/** gRPC's own health service. The empty name stands for the whole daemon; services of other doors are unknown. */
export function bindHealth(
  readHealth: ReadHealth,
  serviceNamesAt: (door: Door) => readonly string[],
  pollMs: number,
): ServiceBinding {
  const statusOf = (service: string, door: Door): ServingStatus => {
    if (service !== '' && !serviceNamesAt(door).includes(service)) return SERVICE_UNKNOWN;
    return readHealth().status === 'serving' ? SERVING : NOT_SERVING;
  };
  return bindService(health.Health, doors, {
    check: async ({ service }, peer) => {
      const status = statusOf(service, peer.door);
      if (status === SERVICE_UNKNOWN) throw new RpcError('not_found', `There is no service ${wholeText(service)}.`);
      return create(health.HealthCheckResponseSchema, { status });
    },
    watch: ({ service }, peer) => watchStatus(() => statusOf(service, peer.door), peer, pollMs),
  });
}

/** Says the present status at once and every change after that, until the caller leaves. */
async function* watchStatus(readStatus: () => ServingStatus, { signal }: Peer, pollMs: number) {
  let said: ServingStatus | undefined;
  while (!signal.aborted) {
    const status = readStatus();
    if (status !== said) yield create(health.HealthCheckResponseSchema, { status });
    said = status;
    await delay(pollMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** The same for people, load balancers and scripts. */
export function routeHealth(readHealth: ReadHealth): HttpRoute {
  return {
    method: 'GET',
    path: '/healthz',
    doors,
    handle: (_request, response) => {
      const { status, reason } = readHealth();
      const body = JSON.stringify({ status, reason });
      response.writeHead(status === 'serving' ? 200 : 503, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'cache-control': 'no-store',
      });
      response.end(body);
    },
  };
}
