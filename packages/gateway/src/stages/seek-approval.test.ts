import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor } from '../audit/redact.ts';
import { createToolContexts } from '../executors/tool-context.ts';
import type { Begun, Consented } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import type { Mode, Session } from '../model/session.ts';
import { ToolFailure, ToolRefused } from '../model/tool.ts';
import type { AnyTool, Effect, ToolContext } from '../model/tool.ts';
import type { Verdict } from '../model/verdict.ts';
import {
  allow,
  argumentsOf,
  askFirst,
  assertPassed,
  assertRefused,
  callOf,
  clock,
  judgedAs,
  operator,
  rulesOf,
  sessionOf,
  toolOf,
  contextParts,
} from './facts.test-kit.ts';
import { seekApproval } from './seek-approval.ts';

type Answer = Consented | Refusal;

interface Asked {
  readonly session?: Session;
  readonly tool?: AnyTool;
  readonly path?: string;
  readonly mode?: Mode;
  readonly rulesHash?: string;
  readonly verdict?: Verdict;
  readonly call?: Partial<Begun>;
  readonly effectiveTimeoutMs?: number;
}

const stage = seekApproval(createToolContexts(contextParts), new Redactor(['hunter2-secret']));

function ask(asked: Asked = {}, more: { readonly reused?: { readonly output: null; readonly callId: string } } = {}) {
  const { session = operator, tool = toolOf(), path = 'a', mode = 'NORMAL', rulesHash = 'ab'.repeat(32) } = asked;
  const facts = {
    ...callOf(asked.call),
    ...argumentsOf({ path }),
    ...judgedAs(asked.verdict ?? askFirst, rulesOf({ hash: rulesHash })),
    ...(asked.effectiveTimeoutMs === undefined ? {} : { effectiveTimeoutMs: asked.effectiveTimeoutMs }),
    ...more,
  };
  return Promise.resolve(stage.run({ ...facts, session, lease: session.lease, tool, mode }, clock) as Promise<Answer>);
}

const bindingFor = async (asked: Asked = {}): Promise<string> =>
  ((await ask(asked)) as Refusal).approval?.binding ?? '';

function previewing(preview: (context: ToolContext) => Promise<Effect>): AnyTool {
  return toolOf({}, { preview: (_args, context) => preview(context) });
}

const effect: Effect = { summary: 'Change a note.', detail: '-old\n+new', undoable: true };

test('what the rules allow, and what is only handed out again, needs no consent and no preview', async () => {
  const tool = previewing(() => assert.fail('previewed'));
  assert.deepEqual(assertPassed(await ask({ tool, verdict: allow })), {});
  assert.deepEqual(assertPassed(await ask({ tool }, { reused: { output: null, callId: 'first' } })), {});
});

test('an operator is shown the effect and what to confirm', async () => {
  requirement('PIPE-4');
  const refusal = assertRefused(await ask(), {
    code: 'APPROVAL_REQUIRED',
    rule: 'ask-notes',
    remedy: 'Run the call from a terminal, where you can look at its effect and confirm it.',
  });
  assert.equal(refusal.message, "notes.read needs a person's approval: Notes are dear.");
  assert.equal(refusal.approval?.effect, 'Change a note.\n-old\n+new');
  assert.match(refusal.approval?.binding ?? '', /^[0-9a-f]{64}$/);
});

test('the binding that was shown is consent, and the consent says whose', async () => {
  const binding = await bindingFor();
  assert.deepEqual(assertPassed(await ask({ call: { confirmBinding: binding } })), {
    consent: { by: 'olga', how: 'own-call-confirmed', binding },
  });
});

test('the same call twice has one binding; any difference makes another, and the old one is no consent', async () => {
  requirement('PIPE-3');
  const binding = await bindingFor();
  assert.equal(await bindingFor(), binding);
  const differences: Record<string, Asked> = {
    arguments: { path: 'b' },
    tool: { tool: toolOf({ name: 'notes.send' }) },
    version: { tool: toolOf({ version: '1.0.1' }) },
    mode: { mode: 'ALERT' },
    rules: { rulesHash: 'cd'.repeat(32) },
    session: { session: { ...operator, id: '01900000-0000-7000-8000-00000000000b' } },
    'summary of the effect': { tool: previewing(async () => ({ ...effect, summary: 'Delete a note.' })) },
    'detail of the effect': { tool: previewing(async () => ({ ...effect, detail: '-older\n+new' })) },
    'what can be undone': { tool: previewing(async () => ({ ...effect, undoable: false })) },
  };
  const bindings = new Set([binding]);
  for (const [what, difference] of Object.entries(differences)) {
    const refusal = assertRefused(await ask({ ...difference, call: { confirmBinding: binding } }), {
      code: 'APPROVAL_MISMATCH',
      rule: 'ask-notes',
      remedy: 'Look at the effect again.',
    });
    bindings.add(refusal.approval?.binding ?? '');
    assert.ok(refusal.approval?.effect, what);
  }
  assert.equal(bindings.size, 1 + Object.keys(differences).length);
});

test('a call id, a request id and a time limit are not part of what is agreed to', async () => {
  const other = { callId: 'other', requestId: 'other', timeoutMs: 5, correlationId: 'other' };
  assert.equal(await bindingFor({ call: other }), await bindingFor());
});

test('an agent gets neither binding nor consent, not even with the right binding', async () => {
  const session = sessionOf({ id: operator.id });
  const binding = await bindingFor();
  for (const confirmBinding of ['', 'wrong', binding]) {
    const refusal = assertRefused(await ask({ session, call: { confirmBinding } }), {
      code: 'APPROVAL_REQUIRED',
      rule: 'ask-notes',
      remedy: 'Ask the operator to run it: `sallyport tool invoke notes.read` shows the effect and asks.',
    });
    assert.equal(refusal.approval, undefined);
    assert.ok(!JSON.stringify(refusal).includes(binding));
  }
});

test('an agent learns nothing from the preview: it is not made', async () => {
  const tool = previewing(() => Promise.reject(new ToolFailure('NOT_FOUND', 'There is no such note.')));
  assert.equal(((await ask({ tool, session: sessionOf() })) as Refusal).code, 'APPROVAL_REQUIRED');
});

test('known secrets are not shown in the effect', async () => {
  requirement('AUD-4');
  const tool = previewing(async () => ({ ...effect, detail: '+password: hunter2-secret' }));
  const { approval } = (await ask({ tool })) as Refusal;
  assert.equal(approval?.effect, 'Change a note.\n+password: [redacted]');
});

test('an effect that cannot be worked out is refused with the code of the failure', async () => {
  const tool = previewing(() => Promise.reject(new ToolFailure('NOT_FOUND', 'There is no such note.')));
  const refusal = assertRefused(await ask({ tool }), {
    code: 'NOT_FOUND',
    rule: 'preview',
    remedy: 'The effect of notes.read could not be worked out.',
  });
  assert.equal(refusal.message, 'There is no such note.');
});

test('a gate inside the preview refuses the call in its own words', async () => {
  const inner = refuse('UNSAFE_PATH', 'links', 'The path leads through a link.');
  assert.equal(await ask({ tool: previewing(() => Promise.reject(new ToolRefused(inner))) }), inner);
});

test('a preview that breaks stops the call', async () => {
  requirement('PIPE-2');
  await assert.rejects(ask({ tool: previewing(() => Promise.reject(new Error('inside'))) }), /inside/);
});

test('a preview has no more time than the call', async () => {
  const waitForSignal = ({ signal }: ToolContext): Promise<Effect> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const tool = previewing(waitForSignal);
  const refusal = (await ask({ tool, effectiveTimeoutMs: 5 })) as Refusal;
  assert.equal(refusal.code, 'TIMEOUT');
  const leaving = new AbortController();
  const cancelled = ask({ tool, call: { signal: leaving.signal } });
  leaving.abort();
  assert.equal(((await cancelled) as Refusal).code, 'CANCELLED');
});

test('an effect that was cut through a character can still be confirmed', async () => {
  const tool = previewing(async () => ({ ...effect, detail: 'cut \ud83d' }));
  const binding = await bindingFor({ tool });
  assert.ok('consent' in (await ask({ tool, call: { confirmBinding: binding } })));
});
