import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppliedRules } from '../files/applied-rules.ts';
import { KeptRuleSet } from './kept-rule-set.ts';
import { readRuleSet } from './read-rule-set.ts';
import { hashRuleFiles, readRuleFiles } from '../files/rule-files.ts';
import { ask, makeFolder, world, writeRules } from '../test-world.ts';

const key = 'a key that lies elsewhere';
const rulesKey = { secret: key, isNew: false };
const shipped = join(import.meta.dirname, '../../../../../config/governance');

function keepShipped() {
  const files = readRuleFiles(shipped);
  const hash = hashRuleFiles(files);
  const { set } = readRuleSet(files);
  const file = join(makeFolder(), 'kept');
  const kept = new KeptRuleSet(file, shipped, key);
  kept.keep(hash, set);
  return { file, hash, set, kept };
}

test('what is recalled is what was read, line numbers, maps and all', () => {
  const { file, hash, set, kept } = keepShipped();
  assert.deepEqual(kept.recall(hash), set);
  assert.ok(set.rules.every(({ line }) => line > 1));
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('other files, another place and every changed byte are not recalled', () => {
  const { file, hash, kept } = keepShipped();
  assert.equal(kept.recall(hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))), undefined);
  assert.equal(new KeptRuleSet(file, '/elsewhere', key).recall(hash), undefined);
  assert.equal(new KeptRuleSet(`${file}.absent`, shipped, key).recall(hash), undefined);
  assert.equal(new KeptRuleSet(file, shipped, 'a key of somebody else').recall(hash), undefined);
  const whole = readFileSync(file);
  for (let at = 0; at < whole.length; at += 97) {
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    assert.equal(kept.recall(hash), undefined, `byte ${at}`);
  }
  writeFileSync(file, whole.subarray(0, 10));
  assert.equal(kept.recall(hash), undefined);
});

test('a start without it, or with a damaged one, reads the files again and comes to the same rules', () => {
  const folder = writeRules({ tools: 'version: 1\nrules: [{ id: a, effect: deny, tools: [one] }]\n' });
  const applied = join(makeFolder(), 'applied');
  const open = () => new AppliedRules({ ...world, findFolder: () => folder }, applied, rulesKey).current;
  const first = open();
  const file = `${applied}.read`;
  assert.ok(existsSync(file));
  const spoil = [() => rmSync(file), () => writeFileSync(file, 'allow everything'), () => undefined];
  for (const each of spoil) {
    each();
    const again = open();
    assert.equal(again.hash, first.hash);
    assert.deepEqual(again.judge(ask('one', ['/a'])), first.judge(ask('one', ['/a'])));
    assert.ok(existsSync(file), 'it is kept again');
  }
});

test('what depends on the machine is looked at in spite of it', () => {
  const folder = writeRules({
    tools: 'version: 1\nrules: [{ id: a, effect: allow, tools: [x], grants: { read: [$WORKSPACE] } }]\n',
  });
  const applied = join(makeFolder(), 'applied');
  assert.equal(new AppliedRules({ ...world, findFolder: () => folder }, applied, rulesKey).current.count, 1);
  assert.throws(
    () => new AppliedRules({ ...world, findFolder: () => folder, workspace: world.home }, applied, rulesKey),
    /grants \$WORKSPACE/,
  );
});
