import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dump, load } from 'js-yaml';
import { parseYaml } from './parse-yaml.ts';
import { toJson } from './yaml-node.ts';
import type { YamlNode } from './yaml-node.ts';
import { howMuch } from '../../../../test/harness/how-much.ts';

const read = (text: string) => toJson(parseYaml(text).root as YamlNode);

test('whatever JSON can say comes back, in every style', () => {
  const styles = fc.record({
    flowLevel: fc.constantFrom(-1, 0, 1),
    forceQuotes: fc.boolean(),
    quoteStyle: fc.constantFrom('single' as const, 'double' as const),
    lineWidth: fc.constantFrom(-1, 20),
  });
  const values = fc
    .jsonValue({ noUnicodeString: false, maxDepth: 4 })
    .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  fc.assert(
    fc.property(values, styles, (value, style) => {
      assert.deepEqual(read(dump(value, style)), value);
    }),
    { numRuns: 500 },
  );
});

test('text without quotes means what YAML 1.2 says', () => {
  const pieces = ['0', '1', '7', '9', 'a', 'e', 'E', 'x', 'o', '.', '-', '+', '_', 'inf', 'nan', 'null', 'true', '~'];
  const plain = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(plain, (text) => {
      assert.deepEqual(read(`- ${text}`), load(`- ${text}`));
    }),
    { numRuns: howMuch({ usually: 3000, long: 20_000 }) },
  );
  const said =
    'TRUE, False, Null, 0x1F, 0o17, 017, 1_000, yes, off, 1e3, -.5, +12, .inf, -.INF, .NaN, 1e700, 2026-01-01';
  const meant = [true, false, null, 31, 15, 17, '1_000', 'yes', 'off', 1000, -0.5, 12, Infinity, -Infinity, NaN];
  assert.deepEqual(read(`[${said}]`), [...meant, '1e700', '2026-01-01']);
});

test('every part has its place', () => {
  const text = 'a: "x y"\nb:\n  - 12\n  - { c: d }\n';
  const { root } = parseYaml(text);
  const seen: string[] = [];
  const visit = (node: YamlNode): void => {
    if (node.kind === 'scalar') seen.push(text.slice(node.start, node.end));
    else if (node.kind === 'list') node.items.forEach(visit);
    else for (const { key, value } of node.entries) [key, value].forEach(visit);
  };
  visit(root as YamlNode);
  assert.deepEqual(seen, ['a', '"x y"', 'b', '12', 'c', 'd']);
});

test('a name that means something to JavaScript is a name like any other', () => {
  const value = read('__proto__: { admin: true }\nconstructor: 1\n');
  assert.deepEqual(Object.keys(value as object), ['__proto__', 'constructor']);
  assert.equal(({} as { admin?: boolean }).admin, undefined);
});
