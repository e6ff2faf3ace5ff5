import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { canonicalJson } from '../../packages/contract/src/canonical-json.ts';
import { writeSdkRuntime } from '../../packages/gateway/src/programs/run/sdk-runtime.ts';
import { ToolFailure, ToolRefused } from '../../packages/gateway/src/call/tool.ts';
import { requirement } from '../requirement.ts';
import { schemaOf, shellTool, ToolWorkshop } from './tool-workshop.ts';

async function failureOf(call: Promise<unknown>): Promise<ToolFailure> {
  return call.then(
    () => assert.fail('the call succeeded'),
    (error: unknown) => (error instanceof ToolFailure ? error : assert.fail(error as Error)),
  );
}

test('programs in shell, Perl, Python and Node are tools: schema, JSON in, JSON out', async (t) => {
  requirement('BIN-2');
  const workshop = await ToolWorkshop.open(t);
  workshop.write('say.shell', shellTool('say.shell', 'cat'));
  workshop.write(
    'say.perl',
    `#!/usr/bin/perl\nif (@ARGV) { print '${schemaOf('say.perl')}'; } else { print <STDIN>; }\n`,
  );
  workshop.write(
    'say.node.js',
    `#!/usr/bin/env node\nif (process.argv[2] === '--schema') console.log('${schemaOf('say.node')}');\nelse process.stdin.pipe(process.stdout);\n`,
  );
  workshop.write(
    'say.typed.ts',
    `#!/usr/bin/env node\nconst asked: string | undefined = process.argv[2];\nif (asked === '--schema') console.log('${schemaOf('say.typed')}');\nelse process.stdin.pipe(process.stdout);\n`,
  );
  workshop.write(
    'say.python.py',
    `#!/usr/bin/env python3\nimport sys\nprint('${schemaOf('say.python')}' if len(sys.argv) > 1 else sys.stdin.read())\n`,
  );
  workshop.accepting = () => true;
  await workshop.start();
  for (const name of ['say.shell', 'say.perl', 'say.node', 'say.typed', 'say.python']) {
    assert.equal(workshop.statusOf(name), 'ready', name);
    const args = { text: 'grüß "dich"\n', list: [1, { a: null }] };
    const { output } = await workshop.call(name, args);
    assert.equal(canonicalJson(output), canonicalJson(args), name);
  }
});

test('a program gets its arguments as canonical JSON and a newline, and the mode variables', async (t) => {
  requirement('BIN-2');
  const workshop = await ToolWorkshop.open(t);
  const body = `input=$(od -An -c | tr -d ' \\n'); printf '{"input":"%s","mode":"%s","other":"%s","args":%d}' "$(printf %s "$input" | sed 's/[\\"]/./g')" "$SALLYPORT_TOOL_MODE" "$GIBSON_TOOL_MODE" $#`;
  workshop.write('look', shellTool('look', body));
  workshop.accepting = () => true;
  await workshop.start();
  const { output } = await workshop.call('look', { b: 1, a: 'x' });
  assert.deepEqual(
    { ...(output as object) },
    {
      input: '{.a.:.x.,.b.:1}.n',
      mode: 'subprocess',
      other: 'subprocess',
      args: 0,
    },
  );
});

test('nothing on stdout is an empty object', async (t) => {
  requirement('BIN-2');
  const workshop = await ToolWorkshop.open(t);
  workshop.write('quiet', shellTool('quiet', 'echo working >&2'));
  workshop.accepting = () => true;
  await workshop.start();
  const { output, progress, usage } = await workshop.call('quiet');
  assert.deepEqual(output, {});
  assert.deepEqual(progress, [{ kind: 'stderr', text: 'working\n' }]);
  assert.equal(usage.length, 1);
  assert.ok(usage[0]?.measuredBy !== undefined && (usage[0].peakMemoryBytes ?? 0) > 0);
});

test('a code other than 0 is a failure that shows the end of stderr, made harmless', async (t) => {
  requirement('BIN-2');
  const workshop = await ToolWorkshop.open(t);
  const long = `i=0; while [ $i -lt 400 ]; do echo "line $i of many lines" >&2; i=$((i+1)); done`;
  workshop.write('fail', shellTool('fail', `${long}; printf 'no \\033[31msuch thing\\n' >&2; echo '{}'; exit 3`));
  workshop.write('die', shellTool('die', 'kill -SEGV $$'));
  workshop.accepting = () => true;
  await workshop.start();
  const failed = await failureOf(workshop.call('fail'));
  assert.equal(failed.code, 'EXECUTION_ERROR');
  assert.match(failed.message, /^fail failed with exit code 3: [\s\S]*no \\e\[31msuch thing$/);
  assert.ok(failed.message.length < 2100, 'only the end is shown');
  const died = await failureOf(workshop.call('die'));
  assert.equal(died.code, 'EXECUTION_ERROR');
  assert.match(died.message, /SIGSEGV|exit code 139/);
});

test('what is no JSON, or JSON that two readers could read differently, is no result', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const bodies = {
    'bad.text': 'echo hello',
    'bad.two': "echo '{} {}'",
    'bad.twice': `echo '{"a":1,"a":2}'`,
    'bad.bytes': `printf '"\\377"'`,
  };
  for (const [name, body] of Object.entries(bodies)) workshop.write(name, shellTool(name, body));
  workshop.write('bad.huge', shellTool('bad.huge', 'head -c 9000000 /dev/zero | tr "\\0" " "'));
  workshop.accepting = () => true;
  await workshop.start();
  for (const name of Object.keys(bodies)) {
    assert.equal((await failureOf(workshop.call(name))).code, 'INVALID_RESULT', name);
  }
  assert.equal((await failureOf(workshop.call('bad.huge'))).code, 'TOO_LARGE');
  assert.equal(workshop.kept[0]?.length, 9_000_000, 'and all of it is kept');
});

test('a result that breaks the output schema of the tool is found', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const output_schema = { type: 'object', required: ['count'], properties: { count: { type: 'integer' } } };
  workshop.write('count', shellTool('count', `echo '{"count":"many"}'`, { output_schema }));
  workshop.accepting = () => true;
  await workshop.start();
  const { tool, output } = workshop.registry.find('count') ?? assert.fail();
  const { output: result } = await workshop.callTool(tool, {});
  assert.deepEqual(
    output.check(result).map(({ rule }) => rule),
    ['type'],
  );
});

test('a program sees what the rules grant and nothing else', async (t) => {
  requirement('EXEC-1');
  const workshop = await ToolWorkshop.open(t);
  const data = join(workshop.folder, 'data');
  mkdirSync(data, { mode: 0o777 });
  writeFileSync(join(data, 'note'), 'hello');
  const body = `
    seen=$(cat ${data}/note 2>/dev/null); echo changed > ${data}/new 2>/dev/null && wrote=yes || wrote=no
    printf '{"seen":"%s","wrote":"%s","secret":"%s","variable":"%s","home":"%s"}' "$seen" "$wrote" "$TOKEN" "$COLOUR" "$(ls ${workshop.folder} 2>/dev/null | wc -l)"`;
  workshop.write('peek', shellTool('peek', body));
  workshop.accepting = () => true;
  await workshop.start();
  const see = async (options: Parameters<ToolWorkshop['call']>[2]) =>
    ({ ...((await workshop.call('peek', {}, options)).output as object) }) as Record<string, string>;
  assert.deepEqual(await see({}), { seen: '', wrote: 'no', secret: '', variable: '', home: '0' });
  const reading = await see({ grants: { read: [data] } });
  assert.deepEqual([reading['seen'], reading['wrote']], ['hello', 'no']);
  const given = await see({ grants: { environment: { COLOUR: 'red' } }, secrets: { TOKEN: 's3cret' } });
  assert.deepEqual([given['secret'], given['variable']], ['s3cret', 'red']);
});

test('a limit ends the call with a code of its own, and so does the caller', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.write('spin', shellTool('spin', 'while :; do :; done'));
  workshop.write('talk', shellTool('talk', 'yes'));
  const data = join(workshop.folder, 'data');
  mkdirSync(data);
  chmodSync(data, 0o777);
  const fill = `for n in $(seq 64); do head -c 1048576 /dev/zero > ${data}/$n; done; sleep 60`;
  workshop.write('fill', shellTool('fill', fill));
  workshop.accepting = () => true;
  await workshop.start();
  const spun = await failureOf(workshop.call('spin', {}, { grants: { limits: { cpuMs: 200 } } }));
  assert.equal(spun.code, 'CPU_LIMIT');
  const talked = await failureOf(workshop.call('talk', {}, { grants: { limits: { outputBytes: 100_000 } } }));
  assert.equal(talked.code, 'OUTPUT_LIMIT');
  const grants = { read: [data], write: [data], limits: { diskBytes: 8 * 1024 * 1024 } };
  const filled = await failureOf(workshop.call('fill', {}, { grants }));
  assert.equal(filled.code, 'DISK_LIMIT');
  assert.match(filled.message, /wrote more than 8 MiB to disk/);
  const reason = new ToolFailure('TIMEOUT', 'Too long.');
  const stopping = new AbortController();
  const running = failureOf(workshop.call('spin', {}, { signal: stopping.signal }));
  stopping.abort(reason);
  assert.equal(await running, reason);
});

test('arguments that the schema calls paths are claimed, so that rules judge them', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const input_schema = {
    type: 'object',
    properties: { from: { type: 'string', format: 'path' }, to: { type: 'string', 'x-sallyport': 'path-write' } },
  };
  workshop.write('copy', shellTool('copy', 'cat', { input_schema }));
  workshop.accepting = () => true;
  await workshop.start();
  const { tool } = workshop.registry.find('copy') ?? assert.fail();
  const session = { workingDirectory: '/workspace' } as Parameters<typeof tool.claim>[1];
  assert.deepEqual(tool.claim({ from: 'a/b', to: '/data/c', text: '/etc/passwd' }, session).paths, [
    { path: '/workspace/a/b', access: 'read' },
    { path: '/data/c', access: 'write' },
  ]);
  assert.throws(() => tool.claim({ from: '../x' }, session), ToolRefused);
});

test('the sandbox of --schema has no files, no network and no environment of ours', async (t) => {
  requirement('DEF-6');
  const workshop = await ToolWorkshop.open(t);
  const probe = `#!/bin/sh
if [ "$1" = --schema ]; then
  names=$(env | cut -d= -f1 | sort | tr '\\n' ' ')
  files=$(ls ${workshop.folder} 2>/dev/null | wc -l)
  network=$(tail -n +2 /proc/net/route | wc -l)
  printf '{"name":"probe","version":"1.0.0","description":"env: %s files: %s routes: %s","input_schema":{"type":"object"}}' "$names" "$files" "$network"
fi
`;
  workshop.write('probe', probe);
  process.env['WORKSHOP_SECRET'] = 'x';
  try {
    await workshop.start();
  } finally {
    delete process.env['WORKSHOP_SECRET'];
  }
  const { description } = workshop.registry.find('probe')?.tool.definition ?? assert.fail();
  assert.match(
    description,
    /^env: (?:GIBSON_TOOL_MODE |HOME |LANG |PATH |PWD |SALLYPORT_TOOL_MODE |_ )+ files: 0 routes: 0$/,
  );
  assert.deepEqual(
    workshop.schemaRuns.map(({ file, answer }) => ({ file, answer })),
    [{ file: 'probe', answer: 'described' }],
    'and the log is told of the run',
  );
});

test('the examples in the repository work as they are, the SDK included', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const examples = join(import.meta.dirname, '../../examples/tools');
  for (const file of ['random-hex.sh', 'csv-to-json.py', 'text-count.ts']) {
    workshop.write(file, readFileSync(join(examples, file), 'utf8'));
  }
  const sdk = writeSdkRuntime(join(workshop.folder, 'sdk'));
  // As for the store: the user of the sandbox must get there.
  for (const folder of [dirname(sdk), sdk]) chmodSync(folder, 0o755);
  workshop.accepting = () => true;
  await workshop.start({ sdk });
  assert.deepEqual(workshop.tools.installed.skipped, []);
  for (const { id, status, reason } of workshop.tools.installed.all) assert.equal(status, 'ready', `${id}: ${reason}`);
  assert.equal(workshop.tools.installed.all.length, 3);
  const { output } = await workshop.call('text.count', { text: 'two words' });
  assert.equal((output as { words?: unknown }).words, 2);
});
