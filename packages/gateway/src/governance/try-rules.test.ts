import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Question } from '../model/verdict.ts';
import { effects } from './rule.ts';
import { ask, rulesOf } from './test-world.ts';

test('a rule that is tried out decides nothing, and the verdict says what it would do', () => {
  const rules = rulesOf(`
  - { id: read, effect: allow, tools: [files.read] }
  - { id: no-docs, effect: deny, tools: [files.read], paths: [/docs/**], shadow: true, reason: Under review. }
  - { id: write, effect: allow, tools: [files.write], shadow: true, accept_new: true }
`);
  const docs = rules.judge(ask('files.read', ['/docs/a']));
  assert.deepEqual(
    [docs.effect, docs.rule.id, docs.shadow?.effect, docs.shadow?.rule.id],
    ['allow', 'read', 'deny', 'no-docs'],
  );
  assert.match(docs.shadow?.reason ?? '', /Under review/);
  assert.equal('shadow' in rules.judge(ask('files.read', ['/src/a'])), false);
  const write = rules.judge(ask('files.write', ['/a']));
  assert.deepEqual([write.effect, write.rule.id, write.shadow?.effect], ['deny', 'default-deny', 'allow']);
  assert.equal(rules.judgePaths({ ...ask('files.read', []), consented: false }).judge('/docs/a', 'read'), undefined);
  assert.equal(rules.acceptsNew('files.write'), false);
});

const someRules = fc.array(
  fc.record({
    effect: fc.constantFrom(...effects),
    tools: fc.constantFrom('files.read', 'files.*', '*'),
    path: fc.constantFrom('/a/**', '/a/b', '/**', '/c/*'),
    shadow: fc.boolean(),
  }),
  { maxLength: 6 },
);
const someQuestion: fc.Arbitrary<Question> = fc
  .tuple(fc.constantFrom('files.read', 'files.write'), fc.subarray(['/a', '/a/b', '/c/d', '/e']))
  .map(([tool, paths]) => ask(tool, paths));

test('what is tried out is what would be decided if it were in force', () => {
  fc.assert(
    fc.property(someRules, someQuestion, (rules, question) => {
      const text = (enforced: (shadow: boolean) => string | undefined): string => {
        const lines = rules.map(({ effect, tools, path, shadow }, at) => {
          const more = enforced(shadow);
          return more === undefined
            ? ''
            : `  - { id: r${at}, effect: ${effect}, tools: ["${tools}"], paths: ["${path}"]${more} }\n`;
        });
        return lines.join('') || '  []\n';
      };
      const tried = rulesOf(text((shadow) => (shadow ? ', shadow: true' : ''))).judge(question);
      const without = rulesOf(text((shadow) => (shadow ? undefined : ''))).judge(question);
      const enforced = rulesOf(text(() => '')).judge(question);
      assert.deepEqual([tried.effect, tried.rule.id], [without.effect, without.rule.id]);
      const said = tried.shadow ?? tried;
      assert.deepEqual([said.effect, said.rule.id], [enforced.effect, enforced.rule.id]);
    }),
    { numRuns: 100 },
  );
});
