import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { addHooks, dropHooks, hasHooks } from './edit-hooks.ts';
import type { HookPlan } from './edit-hooks.ts';
import { SettingsUnclear } from './edit-json.ts';

const group = (command: string) => ({ matcher: '*', hooks: [{ type: 'command', command, timeout: 600 }] });
const command = '/bin/sallyport hook x';
const hooks = {
  PreToolUse: group(command),
  PostToolUse: group(command),
  Stop: { hooks: group(command).hooks },
};
const plan: HookPlan = { client: 'x', hooks };
const read = (text: string): { hooks: Record<string, unknown[]> } => parse(text) as never;

test('hooks are added beside those of others, and everything else stays as it is written', () => {
  const mine =
    '{\n\t// mine\n\t"model": "o", /* and */\n\t"hooks": {\n\t\t"PreToolUse": [\n\t\t\t{ "a": 1 },\n\t\t],\n\t},\n\t"z": [1,2],\n}\n';
  const edited = addHooks(mine, plan);
  for (const part of ['\t// mine\n', '"model": "o", /* and */', '{ "a": 1 },', '"z": [1,2],'])
    assert.ok(edited.includes(part), edited);
  assert.deepEqual(read(edited).hooks['PreToolUse'], [{ a: 1 }, hooks.PreToolUse]);
  assert.deepEqual(read(edited).hooks['Stop'], [hooks.Stop]);
});

test('an entry is put behind the last one, with and without a comma there', () => {
  for (const list of ['[1]', '[1,]', '[ 1 , ]', '[\n    1\n  ]', '[ 1, // one\n ]']) {
    const edited = addHooks(`{"hooks": {"PreToolUse": ${list}}}`, {
      client: 'x',
      hooks: { PreToolUse: hooks.PreToolUse },
    });
    assert.deepEqual(read(edited).hooks['PreToolUse'], [1, hooks.PreToolUse], edited);
  }
});

test('a second time changes nothing', () => {
  for (const text of ['', '{}', '{"hooks":{}}', '{\r\n  "a": 1\r\n}\r\n']) {
    const once = addHooks(text, plan);
    assert.equal(addHooks(once, plan), once);
    assert.ok(hasHooks(once, plan) && !hasHooks(text, plan));
    assert.equal(text.includes('\r\n'), once.includes('\r\n'));
  }
});

test('what is no settings file is left alone, and said', () => {
  for (const text of ['[]', '"x"', '{', '{"a":}', '{"hooks":[]}', '{"hooks":{"Stop":{}}}', 'model: x']) {
    assert.throws(() => addHooks(text, plan), SettingsUnclear, text);
  }
});

test('whatever the settings were, they stay what they mean', () => {
  const key = fc.string({ minLength: 1 }).filter((name) => name !== 'hooks' && name !== '__proto__');
  fc.assert(
    fc.property(fc.dictionary(key, fc.jsonValue()), fc.constantFrom(undefined, 1, '\t'), (settings, indent) => {
      const edited = addHooks(JSON.stringify(settings, undefined, indent), plan);
      const { hooks: added, ...rest } = JSON.parse(edited) as Record<string, unknown>;
      assert.deepEqual(rest, JSON.parse(JSON.stringify(settings)));
      assert.deepEqual(Object.keys(added as object), Object.keys(hooks));
    }),
  );
});

test('an earlier form of a hook is replaced, and taking ours out leaves those of others', () => {
  const others = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}';
  const once = addHooks(others, plan);
  const newer = addHooks(once, { client: 'x', hooks: { Stop: { hooks: group(`NEW=1 ${command}`).hooks } } });
  assert.equal(read(newer).hooks['Stop']?.length, 2);
  assert.ok(newer.includes('NEW=1'));
  assert.deepEqual(read(dropHooks(newer, plan)).hooks['Stop'], read(others).hooks['Stop']);
});

test('a name that stands there twice is left alone', () => {
  assert.throws(() => addHooks('{"hooks":{},"a":1,"a":2}', plan), SettingsUnclear);
});
