import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { promoteRule } from './promote-rule.ts';

const promote = (text: string, id: string): string =>
  Buffer.from(promoteRule({ file: 'tools.yaml', bytes: Buffer.from(text) }, id)).toString();

test('the line that says it goes, and every other byte stays', () => {
  const text = `# head
version: 1

rules:
  - id: a   # the first
    effect: deny
    tools: ['x.*']   # ünder review
    shadow: true
    reason: "Not  today."

  - { id: b, effect: allow, tools: [y], shadow: true }   # short
`;
  assert.equal(promote(text, 'a'), text.replace('    shadow: true\n', ''));
  assert.equal(promote(text, 'b'), text.replace('shadow: true }', 'shadow: false }'));
});

test('a remark on the line is kept, and so are the ends of lines and the mark at the start', () => {
  const text = '\ufeffversion: 1\r\nrules:\r\n  - id: a\r\n    effect: deny\r\n    tools: [x]\r\n    shadow: true\r\n';
  assert.equal(promote(text, 'a'), text.replace('    shadow: true\r\n', ''));
  const remarked = text.replace('true', 'true # until May');
  assert.equal(promote(remarked, 'a'), remarked.replace('true', 'false'));
  assert.equal(
    promote('version: 1\nrules: [{shadow: true, id: a}]', 'a'),
    'version: 1\nrules: [{shadow: false, id: a}]',
  );
});

test('whatever else stands in the file, exactly one rule changes', () => {
  const rule = fc.record({
    isFlow: fc.boolean(),
    shadow: fc.boolean(),
    remark: fc.constantFrom('', '  # shadow: true'),
  });
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 6 }), fc.nat(5), (rules, chosen) => {
      const at = chosen % rules.length;
      const spell = (shadowOf: (index: number, shadow: boolean) => string): string =>
        rules
          .map(({ isFlow, shadow, remark }, index) => {
            const said = shadowOf(index, shadow);
            if (isFlow) return `  - { id: r${index}, effect: deny, tools: [x]${said && `, ${said}`} }${remark}\n`;
            return `  - id: r${index}${remark}\n    effect: deny\n${said && `    ${said}\n`}    tools: [x]\n`;
          })
          .join('');
      const isChosen = (index: number): boolean => index === at;
      const before = spell((index, shadow) => (isChosen(index) || shadow ? 'shadow: true' : ''));
      const after = spell((index, shadow) => {
        if (isChosen(index)) return rules[at]?.isFlow === true ? 'shadow: false' : '';
        return shadow ? 'shadow: true' : '';
      });
      assert.equal(promote(`version: 1\nrules:\n${before}`, `r${at}`), `version: 1\nrules:\n${after}`);
    }),
  );
});

test('a rule that is not there, or in force already, is told', () => {
  const text = 'version: 1\nrules: [{ id: a, effect: deny, tools: [x] }, { id: b, shadow: false }]\n';
  assert.throws(() => promote(text, 'c'), { name: 'ConfigError', message: /no rule c in tools\.yaml/ });
  assert.throws(() => promote(text, 'a'), { name: 'ConfigError', message: /in force already/ });
  assert.throws(() => promote(text, 'b'), { name: 'ConfigError', message: /in force already/ });
  assert.throws(() => promote('', 'a'), { name: 'ConfigError' });
});
