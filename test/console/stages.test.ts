import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stages } from '../../packages/console/src/calls/stages.ts';
import { buildGateway } from '../../packages/gateway/src/gateway.ts';
import type { GatewayParts } from '../../packages/gateway/src/gateway.ts';

test('the console explains every gate of a call, in their order', () => {
  const { names } = buildGateway({} as GatewayParts);
  assert.deepEqual(
    stages.map(([name]) => name),
    // After these come the closers, which decide nothing.
    names.slice(0, names.indexOf('record-outcome')),
  );
});
