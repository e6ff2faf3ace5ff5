import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { newPipelinePlace, untilReady } from './pipeline-place.ts';

test('what the page shows works as it says', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/pipelines.md'), 'utf8');
  const [pipelines = '', rules = '', ...more] = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = '']) => text);
  assert.deepEqual(more, []);
  const withoutHead = (text: string) => text.slice(text.indexOf('\n') + 1);
  const accepting = withoutHead(rules).replace('approval: waived', 'approval: waived\n    accept_new: true');
  const place = newPipelinePlace(withoutHead(pipelines), { rules: `\n${accepting}` });
  writeFileSync(join(place.workspace, 'notes.md'), 'remember the milk');
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  await untilReady(daemon, 'notes.summary');
  const { success, error } = await daemon.call(
    'notes.summary',
    { note: 'notes.md', bytes: 8 },
    { token: await daemon.newAgent('ada') },
  );
  assert.ok(success, error?.message ?? '');
  const { written, files } = JSON.parse(success.outputJson) as { written: number; files: { path: string }[] };
  assert.deepEqual([written, files.map(({ path }) => path)], [23, ['notes.md']]);
  assert.equal(readFileSync(join(place.workspace, 'summary.md'), 'utf8'), 'From notes.md: remember');
});
