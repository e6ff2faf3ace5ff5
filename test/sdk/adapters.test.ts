import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { governTools, UseRefused } from '@sallyport/sdk/ai';
import { gateHooks } from '@sallyport/sdk/claude-agent';
import { streamText, stepCountIs, tool } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { z } from 'zod';
import { answer } from '../../examples/agents/vercel-ai.ts';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { TestDaemon } from '../harness/daemon.ts';

let daemon: TestDaemon;
let desk: ApprovalDesk;
let gate: { readonly address: string; readonly token: string; readonly cwd: string };

before(async () => {
  daemon = await TestDaemon.start();
  desk = new ApprovalDesk(daemon);
  gate = { address: daemon.address, token: await daemon.newAgent('shop'), cwd: daemon.place.workspace };
});
after(() => daemon.remove());

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** The framework's own scripted model: uses these tools one after the other, then says what it was told by the last. */
function scripted(...uses: readonly { readonly name: string; readonly input: object }[]) {
  const read: string[] = [];
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
      read.push(JSON.stringify(results.at(-1) ?? null));
      const next = uses[results.length];
      return {
        content:
          next === undefined
            ? [{ type: 'text', text: 'Done.' }]
            : [
                {
                  type: 'tool-call',
                  toolCallId: `call-${results.length}`,
                  toolName: next.name,
                  input: JSON.stringify(next.input),
                },
              ],
        finishReason: { unified: next === undefined ? 'stop' : 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
  return { model, read };
}

async function decide<Value>(running: Promise<Value>, isApproved: boolean, note = ''): Promise<Value> {
  let task: string | undefined;
  while (task === undefined) task = (await desk.pending())[0]?.id;
  await desk.decide(task, isApproved, note === '' ? {} : { note });
  return running;
}

test('a tool of the Vercel AI SDK runs when a person agreed, and is on record with how it ended', async () => {
  const { model, read } = scripted({ name: 'refundOrder', input: { id: 'o1' } });
  assert.equal(await decide(answer('Refund o1.', model, gate), true), 'Done.');
  assert.match(read.at(-1) ?? '', /"refunded":true/);
  const intent = (await daemon.records()).findLast(
    ({ kind, payload }) => kind === 'intent' && payload['ran_by'] === 'sdk',
  );
  assert.deepEqual(intent?.payload['arguments'], { tool: 'refundOrder', input: { id: 'o1' } });
  const outcome = (await daemon.records()).find(({ kind, callId }) => kind === 'outcome' && callId === intent?.callId);
  assert.equal(outcome?.result, 'ok');
});

test('a refusal reaches the model with the reason and what it may do instead, and the tool does not run', async () => {
  const { model, read } = scripted({ name: 'refundOrder', input: { id: 'o2' } });
  assert.equal(await decide(answer('Refund o2.', model, gate), false, 'Ask the customer first.'), 'Done.');
  assert.match(read.at(-1) ?? '', /Ask the customer first/);
  assert.doesNotMatch(read.at(-1) ?? '', /refunded/);
});

test('a gate that cannot be asked lets no tool run', async () => {
  let ran = 0;
  const tools = governTools({ count: { execute: () => ++ran } }, { ...gate, address: 'http://127.0.0.1:1' });
  await assert.rejects(Promise.resolve(tools.count.execute()), UseRefused);
  const wrong = governTools({ count: { execute: () => ++ran } }, { ...gate, token: 'sp_wrong' });
  await assert.rejects(Promise.resolve(wrong.count.execute()), UseRefused);
  assert.equal(ran, 0);
  assert.throws(() => governTools({ open: { description: 'runs elsewhere' } }, gate), /no execute/);
});

test('a tool that fails, and one that streams its results, do so behind the gate as well', async () => {
  const failing = governTools(
    { fail: { execute: async (_input: object) => Promise.reject(new Error('no stock')) } },
    gate,
  );
  await assert.rejects(decide(failing.fail.execute({}), true), /no stock/);
  const { kind, result } = (await daemon.records()).at(-1) ?? {};
  assert.deepEqual([kind, result], ['outcome', 'error']);
  const counting = {
    count: tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'one';
        yield 'two';
      },
    }),
  };
  const { model } = streaming('count');
  const { fullStream } = streamText({
    model,
    prompt: 'Count.',
    tools: governTools(counting, gate),
    stopWhen: stepCountIs(2),
  });
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const part of fullStream) if (part.type === 'tool-result') seen.push(part.output);
  })();
  await decide(reading, true);
  assert.deepEqual(seen.slice(0, 2), ['one', 'two']);
});

function streaming(toolName: string) {
  let turn = 0;
  const model = new MockLanguageModelV3({
    doStream: async () => {
      const isFirst = turn++ === 0;
      const call = { type: 'tool-call' as const, toolCallId: 'c', toolName, input: '{}' };
      const finish = {
        type: 'finish' as const,
        finishReason: { unified: isFirst ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
        usage,
      };
      return { stream: simulateReadableStream({ chunks: isFirst ? [call, finish] : [finish] }) };
    },
  });
  return { model };
}

test('the hooks of the Claude Agent SDK deny, allow and report as those of Claude Code do', async () => {
  const hooks = gateHooks(gate);
  const input = {
    ...{ session_id: 's', transcript_path: '', cwd: gate.cwd, tool_name: 'Bash', tool_use_id: 'u1' },
    tool_input: { command: 'ls' },
  };
  const ask = (more: object, gateway = hooks) =>
    gateway.PreToolUse[0]?.hooks[0]?.({ ...input, ...more, hook_event_name: 'PreToolUse' }, 'u1', {
      signal: new AbortController().signal,
    });
  assert.match(JSON.stringify(await ask({})), /"permissionDecision":"allow"/);
  await hooks.PostToolUse[0]?.hooks[0]?.({ ...input, hook_event_name: 'PostToolUse' }, 'u1', {
    signal: new AbortController().signal,
  });
  assert.equal((await daemon.records()).at(-1)?.result, 'ok');
  const secret = { tool_input: { command: 'cat .env' }, tool_use_id: 'u2' };
  assert.match(JSON.stringify(await ask(secret)), /"permissionDecision":"deny".*credentials/);
  const away = gateHooks({ ...gate, address: 'http://127.0.0.1:1' });
  assert.match(JSON.stringify(await ask({ tool_use_id: 'u3' }, away)), /"permissionDecision":"deny"/);
});
