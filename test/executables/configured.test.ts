import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { ToolRefused } from '../../packages/gateway/src/call/tool.ts';
import { sessionOf } from '../../packages/gateway/src/stages/facts.test-kit.ts';
import { requirement } from '../requirement.ts';
import { shellTool, ToolWorkshop } from './tool-workshop.ts';

const words = `
tools:
  - name: text.repeat
    description: Prints a word.
    tags: [text]
    command: [printf, '%s|%s', '{{word}}', '{{more}}']
    parameters:
      - { name: word, type: string, description: What to print. }
      - { name: more, type: string, required: false }
    risk: low
    mutates: false
  - name: text.upper
    version: 2.0.0
    description: Turns JSON into JSON.
    command: [tr, 'a-z', 'A-Z']
    stdin: json
    stdout: json
    input_schema: { type: object, properties: { X: { type: string } } }
    output_schema: { type: object }
`;

test('an entry with a command and a schema is a tool, pinned like any other', async (t) => {
  requirement('DEF-8');
  const workshop = await ToolWorkshop.open(t);
  workshop.writeYaml('words.yaml', words);
  await workshop.start();
  assert.deepEqual(workshop.tools.installed.skipped, []);
  assert.equal(workshop.statusOf('text.repeat'), 'new');
  await workshop.accept('text.repeat');
  await workshop.accept('text.upper');
  const hostile = `a b'; id #$(id)\n`;
  const { output } = await workshop.call('text.repeat', { word: hostile });
  assert.deepEqual(output, { text: `${hostile}|` });
  assert.deepEqual({ ...((await workshop.call('text.upper', { X: 'y' })).output as object) }, { X: 'Y' });

  const { tool } = workshop.registry.find('text.repeat') ?? assert.fail();
  assert.deepEqual([tool.definition.risk, tool.definition.mutates], ['low', false]);
  assert.deepEqual(tool.claim({ word: 'x y' }, sessionOf()).commands, [`printf '%s|%s' 'x y'`]);
  assert.throws(() => tool.claim({ word: '-x' }, sessionOf()), ToolRefused);
  assert.equal(workshop.registry.find('text.upper')?.tool.definition.risk, 'high');

  workshop.writeYaml('words.yaml', words.replace("'%s|%s'", "'%s!%s'"));
  await workshop.look();
  assert.equal(workshop.statusOf('text.repeat'), 'changed', 'another command is another tool');
  assert.equal(workshop.statusOf('text.upper'), 'ready');
});

test('a list of parameters is the schema of a tool: types, what is required, and defaults before the check', async (t) => {
  requirement('DEF-2');
  const workshop = await ToolWorkshop.open(t);
  workshop.writeYaml(
    'listed.yaml',
    `tools:
  - name: listed
    description: Gives its arguments back.
    command: [cat]
    stdin: json
    stdout: json
    parameters:
      - { name: word, type: string, description: A word. }
      - { name: count, type: number, default: 3 }
      - { name: loud, type: boolean, required: false }
      - { name: more, type: object, required: false }
      - { name: list, type: array, default: [1, 2] }
    risk: low
    mutates: false
`,
  );
  await workshop.start();
  await workshop.accept('listed');
  const { tool, input } = workshop.registry.find('listed') ?? assert.fail();
  const args = { word: 'x' };
  assert.deepEqual(input.check(args), []);
  assert.deepEqual(
    { ...((await workshop.call('listed', args)).output as object) },
    { word: 'x', count: 3, list: [1, 2] },
  );
  const problemsOf = (given: JsonObject) => input.check(given).map(({ field, rule }) => `${field} ${rule}`);
  assert.deepEqual(problemsOf({}), ['word required']);
  assert.deepEqual(problemsOf({ word: 1, count: 'x', loud: 1, more: [], list: {} }).sort(), [
    'count type',
    'list type',
    'loud type',
    'more type',
    'word type',
  ]);
  assert.deepEqual(problemsOf({ word: 'x', other: 1 }), ['other unknown']);
  assert.equal((tool.definition.inputSchema['properties'] as JsonObject)['count'] !== undefined, true);
});

test('a program that is not there is missing', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const entry = (name: string, program: string) => `  - { name: ${name}, description: X., command: [${program}] }\n`;
  workshop.writeYaml('a.yml', `tools:\n${entry('one', 'no-such-program')}${entry('two', '/no/such/program')}`);
  await workshop.start();
  for (const name of ['one', 'two']) assert.equal(workshop.statusOf(name), 'missing-binary', name);
});

test('a mistake is told with its line, and costs only the entry that has it', async (t) => {
  requirement('DEF-8');
  const workshop = await ToolWorkshop.open(t);
  workshop.writeYaml(
    'a.yaml',
    `tools:
  - { name: good, description: X., command: [ls] }
  - { name: Bad Name, description: X., command: [ls] }
  - { name: shell, description: X., command: 'ls -l' }
  - { name: relative, description: X., command: [./ls] }
  - { name: chosen, description: X., command: ['{{program}}'], parameters: [{ name: program, type: string }] }
  - { name: unknown, description: X., command: [ls, '{{path}}'] }
  - { name: both, description: X., command: [ls], parameters: [], input_schema: { type: object } }
  - { name: hostile, description: X., command: [ls], input_schema: { type: object, $async: true } }
  - { name: typo, description: X., comand: [ls] }
  - { name: text, description: X., command: [ls], output_schema: { type: object } }
  - { name: late, description: X., command: [ls], timeout_ms: 99999999999 }
`,
  );
  workshop.writeYaml('b.yaml', 'tools: [\n');
  await workshop.start();
  assert.deepEqual(
    workshop.tools.installed.all.map(({ id }) => id),
    ['good@1.0.0'],
  );
  const told = workshop.tools.installed.skipped.map(({ file, reason }) => `${file} ${reason}`);
  for (const line of [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) {
    assert.ok(
      told.some((each) => each.startsWith(`a.yaml line ${line}, column `)),
      `line ${line}: ${told.join('\n')}`,
    );
  }
  assert.ok(told.some((each) => each.startsWith('b.yaml line ')));
});

test('an operator can assign properties to a program, and they are taken at once', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.accepting = () => true;
  workshop.write('say', shellTool('say', 'cat', { risk: 'low', mutates: false }));
  await workshop.start();
  const definition = () => workshop.registry.find('say')?.tool.definition ?? assert.fail();
  assert.deepEqual([definition().risk, definition().mutates], ['high', true]);
  workshop.writeYaml('assign.yaml', 'assign:\n  - { tool: say, risk: low, mutates: false, timeout_ms: 1000 }\n');
  await workshop.until(() => definition().risk === 'low', 'the file is read');
  assert.deepEqual([definition().mutates, definition().timeoutMs], [false, 1000]);
  assert.equal(workshop.statusOf('say'), 'ready');
});

test('a program of the machine runs from where it is', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.accepting = () => true;
  const programs = join(workshop.folder, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'greet'), '#!/bin/sh\nprintf "hello %s" "$1"\n', { mode: 0o755 });
  const entry = `{ name: greet, description: X., command: [${programs}/greet, '{{who}}'], parameters: [{ name: who, type: string }] }`;
  workshop.writeYaml('a.yaml', `tools:\n  - ${entry}\n`);
  await workshop.start();
  assert.deepEqual((await workshop.call('greet', { who: 'Ada' })).output, { text: 'hello Ada' });
});

const asDocuments = `
tools:
  - name: notes.count
    description: Counts characters.
    category: read_only
    owner: ops
    command: [wc, '-{{unit}}']
    stdin: json
    parameters: [{ name: unit, type: string, description: What to count., required: true, default: m }]
    risk_level: low
    mutates: false
    requires_approval: true
    requires_sandbox: true
    requires_confirmation: false
    allowed_modes: [NORMAL]
    rate_limit_per_hour: 5
    timeout_seconds: 3
    scopes: [paths]
  - name: notes.echo
    description: Prints.
    command: [echo, '{{word}}']
    args_schema: { type: object, properties: { word: { type: string } }, required: [word] }
    requires_aproval: true
`;

test('an entry may use the words of other definitions; a strange key is named, a misspelt one is a mistake', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.writeYaml('notes.yaml', asDocuments);
  await workshop.start();
  assert.match(JSON.stringify(workshop.tools.installed.skipped), /requires_aproval.*did you mean requires_approval/);
  assert.equal(workshop.statusOf('notes.echo'), 'absent');
  const { definition } = workshop.registry.find('notes.count')?.tool ?? assert.fail();
  assert.deepEqual([definition.risk, definition.category, definition.requiresApproval], ['low', 'read_only', true]);
  assert.deepEqual([definition.allowedModes, definition.rateLimitPerHour, definition.timeoutMs], [['NORMAL'], 5, 3000]);
  assert.deepEqual(definition.scopes, ['paths']);
  const { tools } = (await workshop.administer('tools.status', { name: 'notes.count' })) as {
    tools: { definitionJson: string }[];
  };
  assert.deepEqual((JSON.parse(tools[0]?.definitionJson ?? '{}') as JsonObject)['unknown_keys'], ['owner']);
  await workshop.accept('notes.count');
  assert.deepEqual((await workshop.call('notes.count')).output, { text: '13\n' });

  workshop.writeYaml('notes.yaml', asDocuments.replace('requires_aproval: true', 'timeout_seconds: 3'));
  await workshop.look();
  await workshop.accept('notes.echo');
  assert.deepEqual((await workshop.call('notes.echo', { word: 'x' })).output, { text: 'x\n' });
});

test('a program that takes back how strict it said to be has to be accepted again', async (t) => {
  requirement('DEF-6');
  const workshop = await ToolWorkshop.open(t);
  workshop.write('strict', shellTool('strict', 'echo {}', { requires_approval: true }));
  await workshop.start();
  await workshop.accept('strict');
  assert.equal(workshop.statusOf('strict'), 'ready');
  // The same bytes, as if they had printed something else when they were asked again.
  const cache = join(workshop.folder, 'tools', 'cache');
  for (const file of readdirSync(cache)) {
    const text = readFileSync(join(cache, file), 'utf8');
    assert.ok(text.includes('"requires_approval":true'));
    writeFileSync(join(cache, file), text.replace('"requires_approval":true', '"requires_approval":false'));
  }
  await workshop.start();
  assert.equal(workshop.statusOf('strict'), 'changed');
});
