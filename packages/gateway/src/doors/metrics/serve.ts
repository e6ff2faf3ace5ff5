import { hash, timingSafeEqual } from 'node:crypto';
import { isRefusal } from '../../call/refusal.ts';
import type { Store } from '../../storage/stores.ts';
import { writeExposition, expositionType } from '../../telemetry/metrics/exposition.ts';
import type { MetricFamily } from '../../telemetry/metrics/exposition.ts';
import { findCaller } from '../check-caller.ts';
import { rpcErrorOf } from '../connect/present-answer.ts';
import { bearerOf } from '../transport/exchange.ts';
import type { HttpRoute } from '../transport/http-route.ts';
import type { Peer } from '../transport/peer.ts';
import { RpcError } from '../transport/rpc-error.ts';

export interface MetricsParts {
  readonly store: Pick<Store, 'findSessionByToken'>;
  /** Opens this page and nothing else. */
  readonly token: string;
  readonly readMetrics: () => Promise<readonly MetricFamily[]>;
}

/** Metrics for Prometheus. For operators, and for who has the token of this page; agents read nothing here. */
export function metricsRoutes(parts: MetricsParts): readonly HttpRoute[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      doors: ['tcp', 'operator-socket'],
      handle: async (_request, response, peer) => {
        checkReader(parts, peer);
        const text = writeExposition(await parts.readMetrics());
        response.writeHead(200, {
          'content-type': expositionType,
          'content-length': Buffer.byteLength(text),
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        });
        response.end(text);
      },
    },
  ];
}

/** Throws RpcError. */
function checkReader({ store, token }: MetricsParts, peer: Peer): void {
  const given = bearerOf(peer.headers('authorization')) ?? '';
  if (timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'))) return;
  const caller = findCaller(store, peer);
  if (isRefusal(caller)) throw rpcErrorOf(caller);
  if (caller.principal !== 'operator') throw new RpcError('permission_denied', 'Metrics are for operators.');
}
