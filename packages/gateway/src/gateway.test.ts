import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../test/requirement.ts';
import { buildGateway } from './gateway.ts';
import type { GatewayParts } from './gateway.ts';

test('every call passes these stages, in this order', () => {
  requirement('PIPE-1');
  // Building a gateway runs nothing, so no part of it is needed to see the order.
  const gateway = buildGateway({} as GatewayParts);
  assert.deepEqual(gateway.names, [
    'decode-call',
    'open-session',
    'read-arguments',
    'resolve-tool',
    'check-arguments',
    'check-lease',
    'check-permission',
    'check-mode',
    'judge-call',
    'check-sandbox',
    'break-loop',
    'reuse-result',
    'check-limits',
    'seek-approval',
    'await-turn',
    'admit-call',
    'confirm-standing',
    'execute-tool',
    'check-result',
    'store-content',
    'compare-result',
    'record-outcome',
    'release-holds',
    'count-ending',
    'report-abuse',
    'log-outcome',
  ]);
});
