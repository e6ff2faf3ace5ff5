import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ToolWorkshop } from '../executables/tool-workshop.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { codeOf, newPipelinePlace, pipelineRule, untilReady, writePipelines } from './pipeline-place.ts';

const hello = (path: string) => `
  - name: hello.write
    description: Writes a greeting.
    parameters: [{ name: who, type: string }]
    steps: [{ id: write, tool: files.write, arguments: { path: ${path}, content: 'Hello \${input.who}' } }]
`;

test('a pipeline runs as it was accepted, and every command for tools knows it', async (t) => {
  requirement('DEF-9');
  const place = newPipelinePlace(hello('a.txt'), { rules: pipelineRule.replace('    accept_new: true\n', '') });
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  const run = (...args: string[]) => runSallyport(place, args);
  const token = await daemon.newAgent('ada');
  await untilReady(daemon, 'hello.write', 'new');
  const call = () => daemon.call('hello.write', { who: 'Ada' }, { token });
  assert.equal(codeOf(await call()), 'TOOL_NOT_ACCEPTED');

  const accepted = run('tool', 'accept', 'hello.write', '--yes');
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, /write: files\.write \{"path":"a\.txt","content":"Hello \$\{input\.who\}"\}/);
  assert.ok((await call()).success);
  assert.equal(readFileSync(join(place.workspace, 'a.txt'), 'utf8'), 'Hello Ada');
  assert.match(run('tool', 'list', '--origin', 'pipeline').stdout, /hello\.write +high +pipeline +ready/);
  assert.match(run('tool', 'show', 'hello.write').stdout, /origin +pipeline/);
  const invoked = run('tool', 'invoke', 'hello.write', 'who=Bo');
  assert.equal(invoked.status, 0, invoked.stderr);
  assert.match(run('audit', 'tail').stdout, /files\.write .*\[step write of …[0-9a-f]{12}\]/);
  assert.match(run('policy', 'explain', 'hello.write', 'who=Bo').stdout, /own-pipelines/);

  writePipelines(place, hello('b.txt'));
  await untilReady(daemon, 'hello.write', 'changed');
  assert.equal(codeOf(await call()), 'TOOL_NOT_ACCEPTED', 'another step is another pipeline');
  const changed = run('tool', 'status', 'hello.write').stdout;
  assert.match(changed, /-.*"path": "a\.txt"[^]*\+.*"path": "b\.txt"/);
  // What is written looks the same and means something else.
  writePipelines(place, hello('a.txt').replace('Hello ', 'Hello $'));
  await untilReady(daemon, 'hello.write', 'changed');
  writePipelines(place, hello('a.txt'));
  await untilReady(daemon, 'hello.write');
  const removed = run('tool', 'remove', 'hello.write', '--yes');
  assert.match(removed.stdout + removed.stderr, /Remove it from that file/);
});

test('what cannot be a pipeline is told with its file and line, and harms no other', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.accepting = () => true;
  const chain = (name: string, tool: string) =>
    `  - { name: ${name}, description: X., steps: [{ id: s, tool: ${tool} }] }\n`;
  workshop.writeYaml(
    'a.yaml',
    `pipelines:\n${chain('good', 'other')}${chain('loop.a', 'loop.b')}${chain('self', 'self')}`,
  );
  workshop.writeYaml('b.yaml', `pipelines:\n${chain('loop.b', 'loop.a@1.0.0')}${chain('into', 'loop.a')}`);
  workshop.writeYaml('c.yaml', `pipelines:\n${chain('twice', 'other')}  - { name: x, name: y }\n`);
  workshop.writeYaml('d.yaml', `pipelines: &a [*a]\n`);
  workshop.writeYaml('e.yaml', `pipelines: ${'['.repeat(20_000)}\n`);
  writeFileSync(join(workshop.folder, 'tools', 'f.yaml'), Buffer.from([0xff, 0xfe, 0x00]));
  workshop.writeYaml(
    'g.yaml',
    `pipelines:\n  - { name: half, description: "\\ud800", steps: [{ id: s, tool: other }] }\n`,
  );
  workshop.writeYaml('h.yaml', `pipelines:\n${chain('files.read', 'other')}${chain('tools.status', 'other')}`);
  await workshop.start();
  assert.deepEqual(
    workshop.tools.installed.all.map(({ id }) => id),
    ['files.read@1.0.0', 'good@1.0.0'],
  );
  const told = workshop.tools.installed.skipped.map(({ file, reason }) => `${file} ${reason}`).join('\n');
  for (const place of ['a.yaml line 3', 'a.yaml line 4', 'b.yaml line 2', 'b.yaml line 3']) {
    assert.match(told, new RegExp(`^${place}, column \\d+: the steps of .* go in a circle`, 'm'), told);
  }
  for (const file of ['c.yaml line 3', 'd.yaml line 1', 'e.yaml line 1', 'f.yaml line 1', 'g.yaml line 2']) {
    assert.ok(told.includes(`${file}, column `), `${file}:\n${told}`);
  }
  assert.match(told, /^h\.yaml its name belongs to tools\.status$/m);
});

test('a pipeline counts as its tools do, also when they come later', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.accepting = () => true;
  const pipeline = 'pipelines:\n  - { name: chain, description: X., steps: [{ id: s, tool: say }] }\n';
  workshop.writeYaml('a.yaml', pipeline);
  await workshop.start();
  const seen = () => {
    const { risk, mutates } = workshop.registry.find('chain')?.tool.definition ?? assert.fail();
    return `${risk} ${mutates}`;
  };
  assert.equal(seen(), 'high true');
  const say = 'tools:\n  - { name: say, description: X., command: [echo], risk: low, mutates: false }\n';
  workshop.writeYaml('b.yaml', say);
  await workshop.until(() => seen() === 'low false', 'the tool is known');
  workshop.writeYaml('b.yaml', say.replace('low', 'critical'));
  await workshop.until(() => seen() === 'critical false', 'the tool is worse than before');
});
