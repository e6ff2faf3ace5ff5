import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { refuse } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import type { Ending } from '../call/stage.ts';
import { callOf, nowMs } from '../stages/facts.test-kit.ts';
import { EventLog } from '../telemetry/event-log.ts';
import { completed, failed, faulted, refused } from './ending.test-kit.ts';
import type { CallFacts } from '../call/call.ts';
import { describeOutcomes } from './log-outcome.ts';
import { ownText } from '../call/redacted.ts';

async function eventOf(ending: Ending<CallFacts>): Promise<Record<string, unknown>> {
  const sink = new PassThrough();
  const log = new EventLog({ sink, level: 'debug', redact: ownText });
  await describeOutcomes(log).run(ending, { nowMs: () => nowMs + 7 });
  return JSON.parse(String(sink.read())) as Record<string, unknown>;
}

test('each ending is one event, with who, what and how long', async () => {
  const common = { tool: 'notes.read', agent: 'ada', latency_ms: 7, call_id: callOf().callId };
  const read = async (ending: Ending<CallFacts>) => {
    const { event, level, code, rule, stage, ...rest } = await eventOf(ending);
    for (const [name, value] of Object.entries(common)) assert.equal(rest[name], value, name);
    return { event, level, code, rule, stage };
  };
  const none = { code: undefined, rule: undefined, stage: undefined };
  assert.deepEqual(await read(completed()), { ...none, event: 'tool_call_completed', level: 'debug' });
  assert.deepEqual(await read(failed(new ToolFailure('TIMEOUT', 'Slow.'))), {
    ...none,
    event: 'tool_call_failed',
    level: 'info',
    code: 'TIMEOUT',
  });
  assert.deepEqual(await read(refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', completed().call)), {
    ...none,
    event: 'tool_call_blocked',
    level: 'info',
    code: 'RULE_DENIES',
    rule: 'no',
  });
  assert.deepEqual(await read(faulted(new Error('bug'), 'execute-tool', completed().call)), {
    ...none,
    event: 'tool_call_failed',
    level: 'error',
    stage: 'execute-tool',
  });
});

test('neither arguments nor outputs nor credentials are in an event', async () => {
  const text = JSON.stringify(await eventOf(completed({ credential: 'sp_secret' }, { content: 'of the file' })));
  for (const hidden of ['sp_secret', 'of the file', '"path"']) assert.ok(!text.includes(hidden), hidden);
});

test('a name of a megabyte does not become a line of a megabyte', async () => {
  const call = callOf({ toolName: 'n'.repeat(1e6) });
  const event = await eventOf(refused(refuse('MALFORMED_CALL', 'call-shape', 'No.'), 'decode-call', call));
  // No part of it either: half a secret is one that nobody recognises.
  assert.equal(event['tool'], '[1000000 characters]');
});
