import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { Fault } from '../call/fault.ts';
import { ownText } from '../call/redacted.ts';
import { refuse } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import type { Ending } from '../call/stage.ts';
import type { CallFacts } from '../call/call.ts';
import { reportStart } from '../stages/report-start.ts';
import { callOf, clock, runStage } from '../stages/facts.test-kit.ts';
import { CallEvents } from '../telemetry/call-events.ts';
import { CallMetrics } from '../telemetry/metrics/call-metrics.ts';
import { completed, factsOf, failed, faulted, refused } from './ending.test-kit.ts';
import { reportEnding } from './report-ending.ts';

type Event = Record<string, unknown>;

/** What is written about a call that ends like this, and what the daemon's own log says besides. */
function eventsOf(...endings: readonly Ending<CallFacts>[]): { events: Event[]; log: Event[] } {
  const sink = new PassThrough();
  const events = new CallEvents(sink, ownText);
  const log: Event[] = [];
  const closer = reportEnding({
    log: { error: (event, fields) => void log.push({ event, ...fields }) },
    events,
    metrics: new CallMetrics(ownText),
  });
  for (const ending of endings) void closer.run(ending, clock);
  events.flush();
  const lines = String(sink.read()).trimEnd().split('\n');
  return { events: lines.map((line) => JSON.parse(line) as Event), log };
}

test('each ending is one event, with who, what, how long, which span and why', () => {
  const call = { ...completed().call, callerSpan: { spanId: 'ab'.repeat(8), isSampled: true } };
  const { events, log } = eventsOf(
    { kind: 'completed', call: factsOf({ callerSpan: call.callerSpan }) },
    failed(new ToolFailure('TIMEOUT', 'Slow.')),
    refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', call),
    faulted(new Error('bug'), 'execute-tool', call),
    faulted(new Fault('SEALED', 'full'), 'admit-call', call),
  );
  const common = {
    call_id: callOf().callId,
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    span_id: '8000000000000001',
    tool: 'notes.read',
    agent: 'ada',
  };
  for (const event of events) {
    for (const [name, value] of Object.entries(common)) assert.equal(event[name], value, name);
    assert.ok(Number(event['latency_ms']) > 0 && Number.isFinite(Date.parse(String(event['time']))));
  }
  assert.deepEqual(
    events.map(({ event, level, error, rule }) => [event, level, error, rule]),
    [
      ['tool_call_completed', 'info', undefined, undefined],
      ['tool_call_failed', 'info', 'TIMEOUT', undefined],
      ['tool_call_blocked', 'info', 'RULE_DENIES', 'no'],
      ['tool_call_failed', 'error', 'INTERNAL', undefined],
      ['tool_call_failed', 'error', 'SEALED', undefined],
    ],
  );
  assert.equal(events[0]?.['parent_span_id'], 'ab'.repeat(8));
  assert.equal(events[1]?.['parent_span_id'], undefined);
  assert.deepEqual(
    log.map(({ event, stage, error }) => [event, stage, (error as Error).message]),
    [
      ['call_faulted', 'execute-tool', 'bug'],
      ['call_faulted', 'admit-call', 'full'],
    ],
  );
});

test('the start of a call is an event of the same form', () => {
  const sink = new PassThrough();
  const events = new CallEvents(sink, ownText);
  void runStage(reportStart(events), factsOf(), clock);
  events.flush();
  const { event, tool, agent, latency_ms: latency } = JSON.parse(String(sink.read())) as Event;
  assert.deepEqual([event, tool, agent, latency], ['tool_call_started', 'notes.read', 'ada', undefined]);
});

test('neither arguments nor outputs nor credentials are in an event', () => {
  const { events } = eventsOf(completed({ credential: 'sp_secret' }, { content: 'of the file' }));
  const text = JSON.stringify(events);
  for (const hidden of ['sp_secret', 'of the file', '"path"']) assert.ok(!text.includes(hidden), hidden);
});

test('a name of a megabyte does not become a line of a megabyte, and no name breaks out of its line', () => {
  const blocked = (toolName: string) =>
    refused(refuse('MALFORMED_CALL', 'call-shape', 'No.'), 'decode-call', callOf({ toolName }));
  const { events } = eventsOf(blocked('n'.repeat(1e6)), blocked('a","level":"x\n{"b'));
  // No part of it either: half a secret is one that nobody recognises.
  assert.deepEqual(
    events.map(({ tool, level }) => [tool, level]),
    [
      ['[1000000 characters]', 'info'],
      ['a","level":"x\n{"b', 'info'],
    ],
  );
});

test('strangers who flood the gate are counted, and fill neither the events nor the queue of spans', () => {
  const sink = new PassThrough();
  const events = new CallEvents(sink, ownText);
  const metrics = new CallMetrics(ownText);
  let spans = 0;
  const tracer = { ended: () => void spans++ };
  const closer = reportEnding({ log: { error: () => assert.fail() }, events, metrics, tracer });
  const stranger = refused(refuse('UNAUTHENTICATED', 'credential', 'No.'), 'open-session', callOf());
  for (let at = 0; at < 1000; at++) void closer.run(stranger, clock);
  void closer.run(completed(), clock);
  events.flush();
  const lines = String(sink.read()).trimEnd().split('\n');
  assert.deepEqual([lines.length, spans], [21, 21]);
  const samples = metrics.read().flatMap(({ name, samples: each }) => each.map(({ value }) => `${name} ${value}`));
  assert.ok(samples.includes('sallyport_calls_unreported_total 980'), samples.join());
  assert.ok(samples.includes('sallyport_tool_calls_total 1000'), samples.join());
});
