import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { ConfigError } from '../../call/fault.ts';
import { AppliedRules } from './applied-rules.ts';
import { ask, makeFolder, world, writeRules } from '../test-world.ts';

const allow = (tool: string): string => `version: 1\nrules: [{ id: a, effect: allow, tools: [${tool}] }]\n`;

function prepare(tools: string) {
  const folder = writeRules({ tools });
  const kept = join(makeFolder(), 'state', 'applied-rules');
  const open = (isNew = false): AppliedRules =>
    new AppliedRules({ ...world, findFolder: () => folder }, kept, { secret: 'a key that lies elsewhere', isNew });
  const edit = (text: string): void => writeFileSync(join(folder, 'tools.yaml'), text);
  return { folder, kept, open, edit };
}

const allows = (rules: AppliedRules, tool: string): boolean =>
  rules.current.judge(ask(tool, ['/a'])).effect === 'allow';

test('an edit changes nothing until it is applied, not even over a restart', () => {
  const { folder, open, edit } = prepare(allow('one'));
  const rules = open();
  const { hash } = rules.current;
  assert.deepEqual(rules.inspect(), { hash, folder, files: 'applied' });
  edit(allow('two'));
  for (const each of [rules, open()]) {
    assert.deepEqual([allows(each, 'one'), allows(each, 'two')], [true, false]);
    assert.deepEqual(each.inspect(), { hash, folder, files: 'changed' });
  }
  assert.equal(rules.preview().judge(ask('two', ['/a'])).effect, 'allow');
  assert.equal(allows(rules, 'two'), false);

  const applied = rules.apply();
  assert.equal(applied, rules.current);
  for (const each of [rules, open()]) {
    assert.deepEqual([allows(each, 'one'), allows(each, 'two')], [false, true]);
    assert.deepEqual(each.inspect(), { hash: applied.hash, folder, files: 'applied' });
  }
  assert.notEqual(applied.hash, hash);
});

test('a bad change keeps the old rules and says what is wrong, with file and line', () => {
  requirement('MODE-5');
  const { folder, open, edit } = prepare(allow('one'));
  const rules = open();
  edit('version: 1\nrules: [{ id: a, effect: alow, tools: [one] }]\n');
  const state = rules.inspect();
  assert.equal(state.files, 'broken');
  assert.match(state.problem ?? '', /tools\.yaml:2:26 {2}effect must be one of allow/);
  assert.throws(() => rules.apply(), ConfigError);
  assert.throws(() => rules.preview(), ConfigError);
  for (const each of [rules, open()]) assert.equal(allows(each, 'one'), true);
  rmSync(folder, { recursive: true });
  assert.equal(rules.inspect().files, 'changed');
  assert.equal(allows(open(), 'one'), true);
});

test('denials point to the files that people edit', () => {
  const { folder, open, edit } = prepare('version: 1\nrules: [{ id: a, effect: deny, tools: [one] }]\n');
  open();
  edit(allow('two'));
  const { rule } = open().current.judge(ask('one', ['/a']));
  assert.deepEqual(rule, { id: 'a', file: join(folder, 'tools.yaml'), line: 2 });
  assert.ok(open().current.judge(ask('three', [])).forOperators?.includes(folder));
});

test('rules that cannot be used do not start, and neither does a damaged copy', () => {
  const broken = prepare('version: 2\n');
  assert.throws(() => broken.open(), { name: 'ConfigError', message: /tools\.yaml:1:10/ });
  assert.equal(existsSync(broken.kept), false);
  const { kept, open } = prepare(allow('one'));
  open();
  assert.equal(statSync(kept).mode & 0o777, 0o600);
  const whole = readFileSync(kept, 'utf8');
  writeFileSync(kept, whole.slice(0, -5));
  assert.throws(() => open(), { name: 'ConfigError', message: /is damaged/ });
  writeFileSync(kept, 'null');
  assert.throws(() => open(), { name: 'ConfigError', message: /is damaged/ });
  const before = JSON.stringify({ 'tools.yaml': Buffer.from('version: 9').toString('base64') });
  writeFileSync(kept, before);
  assert.throws(() => open(), { name: 'ConfigError', message: /is damaged/ });
  assert.throws(() => open(true), { name: 'ConfigError', message: /applied last cannot be used any more/ });
  rmSync(kept);
  assert.equal(allows(open(), 'one'), true);
});

test('a copy that somebody changed does not start, and one that somebody put back is told from the newest', () => {
  const { kept, open, edit } = prepare(allow('one'));
  open();
  const old = readFileSync(kept, 'utf8');
  const { files, ...rest } = JSON.parse(old) as { files: object };
  const forged = { 'tools.yaml': Buffer.from(allow('two')).toString('base64') };
  writeFileSync(kept, JSON.stringify({ files: { ...files, ...forged }, ...rest }));
  assert.throws(() => open(), { name: 'ConfigError', message: /changed by something other than Sallyport/ });
  writeFileSync(kept, old);
  edit(allow('two'));
  const rules = open();
  rules.apply();
  const known = rules.sequence;
  open().checkNewest(known);
  writeFileSync(kept, old);
  assert.throws(() => open().checkNewest(known), { name: 'ConfigError', message: /somebody put it back/ });
  rmSync(kept);
  const fresh = open();
  fresh.checkNewest(known);
  assert.deepEqual([fresh.wasFresh, fresh.sequence > known, allows(fresh, 'two')], [true, true, true]);
  open().checkNewest(fresh.sequence);
});

test('a draft that a crash left behind is no copy', () => {
  const { kept, open } = prepare(allow('one'));
  open();
  writeFileSync(`${kept}.new`, '{"tools.yaml":');
  assert.equal(allows(open(), 'one'), true);
});
