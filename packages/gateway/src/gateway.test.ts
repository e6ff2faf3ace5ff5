import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../test/requirement.ts';
import { buildGateway, buildRehearsal } from './gateway.ts';
import type { GatewayParts } from './gateway.ts';

// Building a gateway runs nothing, so no part of it is needed to see the order.
const gateway = buildGateway({} as GatewayParts);

test('every call passes these stages, in this order', () => {
  requirement('PIPE-1');
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
    'report-start',
    'execute-tool',
    'check-result',
    'store-content',
    'compare-result',
    'record-outcome',
    'release-holds',
    'count-ending',
    'report-abuse',
    'notice-anomalies',
    'report-ending',
  ]);
});

test('a planned call passes the gates between the caller and the question to a person, and is only previewed', () => {
  const rehearsal = buildRehearsal(gateway, () => assert.fail('building runs nothing'));
  const [from, to] = [gateway.names.indexOf('read-arguments'), gateway.names.indexOf('seek-approval')];
  assert.deepEqual(rehearsal.names, [...gateway.names.slice(from, to), 'preview-call']);
});
