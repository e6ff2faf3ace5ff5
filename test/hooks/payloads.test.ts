import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { claudeCode, codex } from '../../packages/gateway/src/doors/hooks/claude-code.ts';
import { cursor } from '../../packages/gateway/src/doors/hooks/cursor.ts';
import { gemini } from '../../packages/gateway/src/doors/hooks/gemini.ts';
import type { HookClient } from '../../packages/gateway/src/doors/hooks/hook-event.ts';
import { opencode } from '../../packages/gateway/src/doors/hooks/opencode.ts';
import { windsurf } from '../../packages/gateway/src/doors/hooks/windsurf.ts';

interface Case {
  readonly payload: JsonObject;
  readonly kind: string;
  /** Null: it is judged elsewhere. */
  readonly tool?: string | null;
  readonly input?: JsonObject;
  readonly isError?: boolean;
}

const clients: Readonly<Record<string, HookClient>> = {
  'claude-code': claudeCode,
  codex,
  gemini,
  opencode,
  cursor,
  windsurf,
};
const folder = join(import.meta.dirname, 'payloads');
const place = { folder: '/srv/app', home: '', isOwnServer: false };
const files = readdirSync(folder);

/** Such as `claude-code` of `claude-code-2.1.326.json`. */
const clientOf = (file: string): HookClient => {
  const client = clients[file.replace(/-[\d.]+json$/, '')];
  assert.ok(client !== undefined, file);
  return client;
};
const casesOf = (file: string) =>
  (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { cases: readonly Case[] }).cases;

for (const file of files) {
  test(`${file}: every payload is the call that it means`, () => {
    for (const { payload, kind, tool, input, isError } of casesOf(file)) {
      const event = clientOf(file).readEvent(payload, place);
      const told = JSON.stringify(payload);
      assert.equal(event.kind, kind, told);
      if (event.kind === 'before') assert.equal(event.call?.tool ?? null, tool, told);
      if (event.kind === 'before' && input !== undefined) assert.deepEqual(event.call?.input, input, told);
      if (event.kind === 'after') assert.equal(event.outcome.isError, isError, told);
    }
  });

  test(`${file}: a use has the same id before and after it`, () => {
    const ids = casesOf(file).map(({ payload, kind }) => [kind, clientOf(file).readEvent(payload, place)] as const);
    const before = new Set(ids.flatMap(([, event]) => (event.kind === 'before' ? [event.useId] : [])));
    const after = ids.flatMap(([, event]) => (event.kind === 'after' ? [event.useId] : []));
    assert.ok(after.length > 0 && after.every((id) => before.has(id)));
  });

  test(`${file}: without a part that matters, or with one of another kind, nothing becomes another call`, () => {
    for (const { payload, kind } of casesOf(file)) {
      if (kind !== 'before') continue;
      const whole = JSON.stringify(clientOf(file).readEvent(payload, place));
      for (const key of Object.keys(payload)) {
        for (const value of [undefined, null, 7, [], {}, 'x']) {
          const { [key]: _, ...rest } = payload;
          const changed: JsonObject = value === undefined ? rest : { ...rest, [key]: value };
          let event;
          try {
            event = clientOf(file).readEvent(changed, place);
          } catch {
            continue;
          }
          // It may be about something else, but it is never a use that the gate has no say in.
          const isUse =
            event.kind === 'before' && (event.call !== undefined || String(payload['tool_name']).startsWith('MCP:'));
          assert.ok(
            isUse || JSON.stringify(event) === whole,
            `${key}=${JSON.stringify(value)}: ${JSON.stringify(event)}`,
          );
        }
      }
    }
  });
}

test('each client gets its decisions in its own form', () => {
  const reason = 'because';
  const forms = Object.fromEntries(
    Object.entries(clients).map(([name, { present }]) => [
      name,
      (['allow', 'deny'] as const).map((kind) => present({ kind, reason })),
    ]),
  );
  const nested = (permissionDecision: string) => ({
    exitCode: 0,
    output: {
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason: reason },
    },
  });
  assert.deepEqual(forms, {
    'claude-code': [nested('allow'), nested('deny')],
    codex: [{ exitCode: 0 }, nested('deny')],
    gemini: [
      { exitCode: 0, output: { decision: 'allow', reason } },
      { exitCode: 0, output: { decision: 'deny', reason } },
    ],
    opencode: [
      { exitCode: 0, output: { decision: 'allow' } },
      { exitCode: 0, output: { decision: 'deny', reason } },
    ],
    cursor: [
      { exitCode: 0, output: { permission: 'allow' } },
      { exitCode: 0, output: { permission: 'deny', user_message: reason, agent_message: reason } },
    ],
    windsurf: [{ exitCode: 0 }, { exitCode: 2, message: reason }],
  });
});
