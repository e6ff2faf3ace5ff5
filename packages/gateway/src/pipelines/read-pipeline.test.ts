// oxlint-disable no-template-curly-in-string -- that is how pipelines refer to values
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionOf } from '../stages/facts.test-kit.ts';
import { pipelineOf, readPipelines } from './pipeline.test-kit.ts';

const read = definitionOf({
  name: 'notes.read',
  outputSchema: {
    type: 'object',
    additionalProperties: false,
    properties: { content: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
  },
});

test('a pipeline is read with its steps, their references and its output', () => {
  const { description, steps, output, source, assigned } = pipelineOf(
    `    version: 2.1.0
    tags: [notes]
    parameters: [{ name: path, type: string }]
    risk: critical
    timeout_ms: 5000
    steps:
      - { id: read, tool: notes.read, arguments: { path: '\${input.path}' } }
      - { id: say, tool: text.say@1.2.0, continue: true, arguments: { text: 'It is \${steps.read.content}', n: [1, null] } }
    output: { said: '\${steps.say}' }
`,
    [read],
  );
  assert.deepEqual([description.name, description.version, description.tags], ['chain', '2.1.0', ['notes']]);
  assert.deepEqual(assigned, { risk: 'critical', timeoutMs: 5000 });
  assert.deepEqual(
    steps.map(({ id, tool, continues }) => [id, tool, continues]),
    [
      ['read', 'notes.read', false],
      ['say', 'text.say@1.2.0', true],
    ],
  );
  assert.equal(output?.kind, 'object');
  assert.deepEqual(source.output, { said: '${steps.say}' });
  assert.deepEqual(steps[1]?.shownArguments, { text: 'It is ${steps.read.content}', n: [1, null] });
});

test('every mistake is told with its line, and costs only the pipeline that has it', () => {
  const step = (more: string) => `steps: [{ id: a, tool: notes.read${more} }]`;
  const next = (args: string) => `steps: [{ id: a, tool: notes.read }, { id: b, tool: x, arguments: { v: ${args} } }]`;
  const bodies = [
    ['steps: []', /at least one/],
    ['steps: {}', /must be a list/],
    [`steps: [${Array.from({ length: 33 }, (_, n) => `{ id: s${n}, tool: x }`).join(', ')}]`, /at most 32/],
    ['steps: [{ tool: x }]', /lacks id/],
    ['steps: [{ id: A, tool: x }]', /id must be/],
    ['steps: [{ id: a, tool: x }, { id: a, tool: x }]', /already has the id a/],
    ['steps: [{ id: a, tool: Not A Tool }]', /tool must be/],
    ['steps: [{ id: a, tool: x@1@2 }]', /tool must be/],
    ['steps: [{ id: a, tool: "${input.tool}" }]', /tool must be/],
    [step(', arguments: [1]'), /must be a mapping/],
    [step(', continue: yes'), /true or false/],
    [step(', run: x'), /unknown key/],
    [step(', arguments: { "${input.k}": 1 }'), /not the name of one/],
    [step(', arguments: { v: .inf }'), /JSON cannot hold/],
    [step(', arguments: { v: 9007199254740993 }'), /JSON cannot hold/],
    [step(', arguments: { v: "\\ud800" }'), /valid Unicode/],
    [step(', arguments: { v: "${steps.a.content}" }'), /no step before this one; before it: none/],
    [step(', arguments: { v: "${steps.b}" }'), /no step before/],
    [step(', arguments: { v: "${input.path}" }'), /no argument of the pipeline/],
    [step(', arguments: { v: "${input.a + 1}" }'), /not a reference such as/],
    [step(`, arguments: { v: ${'['.repeat(40)}${']'.repeat(40)} }`), /levels deep/],
    [next('"${steps.a.text}"'), /returns no text; it returns: content, tags/],
    [next('"${steps.a.tags.first}"'), /returns no first/],
    [`${step('')}, output: "\${steps.z.a}"`, /no step before/],
    [`${step('')}, parameters: [], input_schema: { type: object }`, /parameters and input_schema; one of them/],
    [`${step('')}, mutates: false`, /unknown key mutates/],
    [`${step('')}, risk: none`, /must be one of/],
    [`${step('')}, command: [ls]`, /unknown key command/],
  ] as const;
  const lines = bodies.map(([body], at) => `  - { name: p${at}, description: X., ${body} }`);
  const good = '  - { name: good, description: X., steps: [{ id: a, tool: notes.read }] }';
  const { pipelines, problems } = readPipelines(`pipelines:\n${[...lines, good].join('\n')}\n`, [read]);
  assert.deepEqual(
    pipelines.map(({ description: { name } }) => name),
    ['good'],
  );
  for (const [at, [body, message]] of bodies.entries()) {
    const told = problems.filter((problem) => problem.startsWith(`${at + 2}: `));
    assert.equal(told.length, 1, `${body}\n${told.join('\n')}`);
    assert.match(told[0] ?? '', message, body);
  }
});

test('references to what tools are known to return, to kept results and to unknown tools are taken', () => {
  const next = (value: string) =>
    `    steps: [{ id: a, tool: notes.read }, { id: u, tool: unknown }, { id: b, tool: x, arguments: { v: "${value}" } }]\n`;
  const values = ['${steps.a}', '${steps.a.tags.3}', '${steps.a.kept.hash}', '${steps.u.what.ever}'];
  for (const value of values) assert.ok(pipelineOf(next(value), [read]), value);
});

test('YAML that means something else than it shows is refused', () => {
  const step = '{ id: a, tool: x, arguments: &x { v: 1, v: 2 } }';
  const { problems } = readPipelines(
    `pipelines:\n  - { name: p, description: X., steps: [${step}, { id: b, tool: x, arguments: *x }] }\n`,
  );
  assert.match(problems.join('\n'), /anchors[^]*stands here twice[^]*aliases/);
});
