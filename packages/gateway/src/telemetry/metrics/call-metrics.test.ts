import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExposition } from '../../../../../test/harness/read-exposition.ts';
import { ownText } from '../../call/redacted.ts';
import type { AnyTool } from '../../call/tool.ts';
import { toolOf } from '../../stages/facts.test-kit.ts';
import { CallMetrics } from './call-metrics.ts';
import { gauge, writeExposition } from './exposition.ts';

function named(name: string): { readonly tool: AnyTool } {
  const tool = toolOf();
  return { tool: { ...tool, definition: { ...tool.definition, name } } };
}

function read(metrics: CallMetrics): ReturnType<typeof readExposition> {
  return readExposition(writeExposition(metrics.read()));
}

test('calls are counted by tool and by how they ended, and timed where they ran', () => {
  const metrics = new CallMetrics(ownText);
  for (const latencyMs of [0.4, 1, 3, 400_000]) metrics.count(named('files.read'), { outcome: 'ok' }, latencyMs);
  metrics.count(named('files.read'), { outcome: 'error', code: 'TIMEOUT' }, 70);
  metrics.count(named('files.read'), { outcome: 'denied', code: 'RULE_DENIES', rule: 'no "secrets"\\' }, 0.2);
  metrics.count(named('files.read'), { outcome: 'pending', code: 'APPROVAL_REQUIRED', rule: 'ask' }, 0.2);
  const shown = read(metrics);
  const count = (outcome: string) => shown.value('sallyport_tool_calls_total', { tool: 'files.read', outcome });
  assert.deepEqual(['ok', 'error', 'denied', 'pending', 'fault'].map(count), [4, 1, 1, 1, 0]);
  const within = (le: string) => shown.value('sallyport_tool_call_duration_seconds_bucket', { tool: 'files.read', le });
  assert.deepEqual(['0.001', '0.0025', '0.005', '0.1', '300', '+Inf'].map(within), [2, 2, 3, 4, 4, 5]);
  assert.equal(shown.value('sallyport_tool_call_duration_seconds_count', { tool: 'files.read' }), 5);
  assert.equal(shown.value('sallyport_tool_call_duration_seconds_sum', { tool: 'files.read' }), 400.0744);
  assert.equal(shown.value('sallyport_denials_total', { rule: 'no "secrets"\\', code: 'RULE_DENIES' }), 1);
  assert.equal(shown.value('sallyport_denials_total', { rule: 'ask', code: 'APPROVAL_REQUIRED' }), undefined);
});

test('names that are no tools are one series, however many there are', () => {
  const metrics = new CallMetrics(ownText);
  const denied = { outcome: 'denied', code: 'UNKNOWN_TOOL', rule: 'registry' } as const;
  for (let at = 0; at < 1000; at++) metrics.count({ tool: undefined }, denied, 1);
  const shown = read(metrics);
  assert.equal(shown.value('sallyport_tool_calls_total', { tool: 'unknown', outcome: 'denied' }), 1000);
  assert.ok(shown.samples.length < 30, String(shown.samples.length));
});

test('a server with tools and rules without end makes a bounded number of series', () => {
  const metrics = new CallMetrics(ownText);
  for (let at = 0; at < 3000; at++) {
    metrics.count(named(`server.tool${at}`), { outcome: 'denied', code: 'RULE_DENIES', rule: `r${at}` }, 1);
  }
  const shown = read(metrics);
  assert.ok(shown.samples.length < 501 * 25 + 501, String(shown.samples.length));
  assert.equal(shown.value('sallyport_tool_calls_total', { tool: 'other', outcome: 'denied' }), 2500);
  assert.equal(shown.value('sallyport_denials_total', { rule: 'other', code: 'other' }), 2500);
});

test('numbers without an end and texts with signs are written as Prometheus reads them', () => {
  const text = writeExposition([
    gauge('a', 'One\nline \\ here.', Infinity),
    gauge('b', 'Not a number.', Number.NaN),
    { name: 'c', help: '', type: 'gauge', samples: [{ labels: { l: 'a"b\\c\nd' }, value: -0.5 }] },
  ]);
  const shown = readExposition(text);
  assert.equal(shown.value('a', {}), Infinity);
  assert.ok(Number.isNaN(shown.value('b', {})));
  assert.equal(shown.value('c', { l: 'a"b\\c\nd' }), -0.5);
});
