import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { addHooks, hasHooks, SettingsUnclear } from './edit-hooks.ts';
import { KeptSettings } from './kept-settings.ts';

const group = (command: string) => ({ matcher: '*', hooks: [{ type: 'command', command, timeout: 600 }] });
const hooks = {
  PreToolUse: group('sp hook x'),
  PostToolUse: group('sp hook x'),
  Stop: { hooks: group('sp hook x').hooks },
};
const read = (text: string): { hooks: Record<string, unknown[]> } => parse(text) as never;

test('hooks are added beside those of others, and everything else stays as it is written', () => {
  const mine =
    '{\n\t// mine\n\t"model": "o", /* and */\n\t"hooks": {\n\t\t"PreToolUse": [\n\t\t\t{ "a": 1 },\n\t\t],\n\t},\n\t"z": [1,2],\n}\n';
  const edited = addHooks(mine, hooks);
  for (const part of ['\t// mine\n', '"model": "o", /* and */', '{ "a": 1 },', '"z": [1,2],'])
    assert.ok(edited.includes(part), edited);
  assert.deepEqual(read(edited).hooks['PreToolUse'], [{ a: 1 }, hooks.PreToolUse]);
  assert.deepEqual(read(edited).hooks['Stop'], [hooks.Stop]);
});

test('an entry is put behind the last one, with and without a comma there', () => {
  for (const list of ['[1]', '[1,]', '[ 1 , ]', '[\n    1\n  ]', '[ 1, // one\n ]']) {
    const edited = addHooks(`{"hooks": {"PreToolUse": ${list}}}`, { PreToolUse: hooks.PreToolUse });
    assert.deepEqual(read(edited).hooks['PreToolUse'], [1, hooks.PreToolUse], edited);
  }
});

test('a second time changes nothing', () => {
  for (const text of ['', '{}', '{"hooks":{}}', '{\r\n  "a": 1\r\n}\r\n']) {
    const once = addHooks(text, hooks);
    assert.equal(addHooks(once, hooks), once);
    assert.ok(hasHooks(once, hooks) && !hasHooks(text, hooks));
    assert.equal(text.includes('\r\n'), once.includes('\r\n'));
  }
});

test('what is no settings file is left alone, and said', () => {
  for (const text of ['[]', '"x"', '{', '{"a":}', '{"hooks":[]}', '{"hooks":{"Stop":{}}}', 'model: x']) {
    assert.throws(() => addHooks(text, hooks), SettingsUnclear, text);
  }
});

test('whatever the settings were, they stay what they mean', () => {
  const key = fc.string({ minLength: 1 }).filter((name) => name !== 'hooks' && name !== '__proto__');
  fc.assert(
    fc.property(fc.dictionary(key, fc.jsonValue()), fc.constantFrom(undefined, 1, '\t'), (settings, indent) => {
      const edited = addHooks(JSON.stringify(settings, undefined, indent), hooks);
      const { hooks: added, ...rest } = JSON.parse(edited) as Record<string, unknown>;
      assert.deepEqual(rest, JSON.parse(JSON.stringify(settings)));
      assert.deepEqual(Object.keys(added as object), Object.keys(hooks));
    }),
  );
});

const folder = mkdtempSync(join(tmpdir(), 'sallyport-settings-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('what was changed goes back byte for byte: any bytes, a link, a file that is read-only, none at all', () => {
  let turn = 0;
  const kind = fc.constantFrom('plain', 'link', 'read-only', 'missing');
  fc.assert(
    fc.property(fc.uint8Array(), kind, fc.array(fc.string(), { minLength: 1, maxLength: 3 }), (bytes, how, texts) => {
      const at = join(folder, String(turn++));
      mkdirSync(at);
      const file = join(at, 'settings.json');
      const target = how === 'link' ? join(at, 'elsewhere.json') : file;
      if (how !== 'missing') writeFileSync(target, bytes);
      if (how === 'link') symlinkSync(target, file);
      if (how === 'read-only') chmodSync(file, 0o400);
      const kept = new KeptSettings(join(at, 'home'));
      for (const text of texts) kept.replace('x', file, text);
      assert.equal(kept.restore('x').how, 'restored');
      if (how === 'missing') assert.throws(() => readFileSync(file), { code: 'ENOENT' });
      else assert.deepEqual(readFileSync(file), Buffer.from(bytes));
      if (how === 'read-only') assert.equal(statSync(file).mode & 0o777, 0o400);
      assert.equal(kept.restore('x').how, 'none');
    }),
    { numRuns: 60 },
  );
});

test('a file that somebody changed since stays', () => {
  const file = join(folder, 'changed.json');
  writeFileSync(file, 'mine');
  const kept = new KeptSettings(join(folder, 'home'));
  kept.replace('y', file, 'ours');
  writeFileSync(file, 'theirs');
  assert.equal(kept.restore('y').how, 'changed');
  assert.equal(readFileSync(file, 'utf8'), 'theirs');
});
