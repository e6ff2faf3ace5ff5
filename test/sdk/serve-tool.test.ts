import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { runFile, ToolFolder } from './tool-folder.ts';
import { requirement } from '../requirement.ts';

const folder = new ToolFolder();
after(() => folder[Symbol.dispose]());

/** A tool whose `run` is this JavaScript. */
function toolThat(run: string, before = ''): string {
  return folder.add(
    `${crypto.randomUUID()}.ts`,
    `#!/usr/bin/env node
import { object, serveTool, string, ToolError } from '@sallyport/sdk';
${before}
serveTool({
  name: 'text.echo',
  version: '1.0.0',
  description: 'Says it again.',
  input: object({ text: string() }),
  run: async ({ text }: { text: string }) => { ${run} },
});
`,
  );
}

const call = JSON.stringify({ text: 'hello' });

test('a file of 15 lines at most is a whole tool: schema, input, output, errors and exit codes', () => {
  requirement('BIN-5');
  const source = `#!/usr/bin/env node
import { integer, object, serveTool, string, ToolError } from '@sallyport/sdk';

serveTool({
  name: 'text.words',
  version: '1.0.0',
  description: 'Counts words.',
  input: object({ text: string() }),
  output: object({ words: integer() }),
  run: ({ text }) => {
    if (text === '') throw new ToolError('There is no text.');
    return { words: text.trim().split(/\\s+/).length };
  },
});
`;
  assert.ok(source.trimEnd().split('\n').length < 15);
  const tool = folder.add('words.ts', source);
  assert.deepEqual(runFile(tool, [], '{"text":"a b c"}'), { status: 0, stdout: '{"words":3}\n', stderr: '' });
  const schema = JSON.parse(runFile(tool, ['--schema']).stdout) as Record<string, unknown>;
  assert.deepEqual(Object.keys(schema), ['name', 'version', 'description', 'tags', 'input_schema', 'output_schema']);
  assert.deepEqual(runFile(tool, [], '{"text":""}'), { status: 3, stdout: '', stderr: 'There is no text.\n' });
  assert.deepEqual(runFile(tool, [], '{"text":1}'), {
    status: 2,
    stdout: '',
    stderr: 'The input does not fit: text must be string.\n',
  });
});

test('what a tool and its libraries print goes to stderr and leaves the answer alone', () => {
  const printing = `console.log('one'); process.stdout.write('two\\n'); console.table([[3]]); console.error('four');
    return { text };`;
  const { status, stdout, stderr } = runFile(toolThat(printing), [], call);
  assert.deepEqual([status, stdout], [0, '{"text":"hello"}\n']);
  assert.match(stderr, /^one\ntwo\n[^]*3[^]*four\n$/);
});

test('the process ends with the answer, whatever the tool left running', () => {
  const { status, stdout } = runFile(toolThat('setInterval(() => undefined, 1000); return { text };'), [], call);
  assert.deepEqual([status, stdout], [0, '{"text":"hello"}\n']);
});

test('a large answer arrives whole', () => {
  const { status, stdout } = runFile(toolThat('return { text: text.repeat(100_000) };'), [], call);
  assert.equal(status, 0);
  assert.equal((JSON.parse(stdout) as { text: string }).text.length, 500_000);
});

test('a tool that stops without an answer has failed, however it did so', () => {
  const silent = { status: 1, stdout: '', stderr: 'The tool ended without an answer.\n' };
  assert.deepEqual(runFile(toolThat('await new Promise(() => undefined);'), [], call), silent);
  assert.deepEqual(runFile(toolThat('process.exit(0);'), [], call), silent);
  const crashes = [
    `throw new Error('oops');`,
    `setTimeout(() => { throw new Error('oops'); }); await new Promise((resolve) => setTimeout(resolve, 10_000));`,
    `void Promise.reject(new Error('oops')); await new Promise((resolve) => setTimeout(resolve, 10_000));`,
  ];
  for (const run of crashes) {
    const { status, stdout, stderr } = runFile(toolThat(run), [], call);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^Unexpected: Error: oops\n +at /);
  }
});

test('a definition that cannot work fails at once, also for --schema, and says why', () => {
  const broken = folder.add(
    'broken.ts',
    `#!/usr/bin/env node
import { serveTool } from '@sallyport/sdk';
serveTool({ name: 'Not a name', version: '1', description: 'x', input: { type: 'object' }, run: () => ({}) });
`,
  );
  const { status, stdout, stderr } = runFile(broken, ['--schema']);
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /"Not a name" cannot be the name of a tool/);
});

test('what a tool prepares before it is served is done while it waits for its input', () => {
  const tool = toolThat('return { text: text + await prepared };', `const prepared = Promise.resolve(' world');`);
  assert.equal(runFile(tool, [], call).stdout, '{"text":"hello world"}\n');
});

test('started by hand on a terminal it explains itself instead of waiting', () => {
  const file = toolThat('return { text };');
  const { status, stdout } = spawnSync(
    'script',
    ['--quiet', '--return', '--command', `${process.execPath} ${file}`, '/dev/null'],
    {
      encoding: 'utf8',
      input: '',
      env: { SHELL: '/bin/sh', TERM: 'xterm', PATH: process.env['PATH'] ?? '' },
      timeout: 60_000,
    },
  );
  assert.equal(status, 2);
  assert.match(stdout, /text\.echo waits for JSON on standard input\.\r\n[^]*echo '\{"text":"…"\}' \| text\.echo/);
});
