import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Json } from '@sallyport/contract';
import { parseToolDescription } from '../../packages/gateway/src/registry/tool-description.ts';
import { writeSdkRuntime } from '../../packages/gateway/src/programs/run/sdk-runtime.ts';
import { newPlace } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { askFile, runFile } from './tool-folder.ts';

const place = newPlace();
before(() => {
  // As in the sandbox, the package is found from the folder of the tools.
  const scope = join(place.home, 'tools', 'node_modules', '@sallyport');
  mkdirSync(scope, { recursive: true, mode: 0o700 });
  symlinkSync(writeSdkRuntime(join(place.folder, 'sdk')), join(scope, 'sdk'));
});
after(() => rmSync(place.folder, { recursive: true, force: true }));

const answers: readonly [language: string, input: object, output: object][] = [
  ['ts', { name: 'Zoë' }, { text: 'Hello, Zoë!' }],
  ['py', { name: 'Zoë' }, { text: 'Hello, Zoë!' }],
  ['sh', { from: 4 }, { numbers: [4, 3, 2, 1] }],
];

for (const [language, input, output] of answers) {
  test(`tool new --${language} writes a program that works and that the gate understands`, () => {
    const name = `my.${language}-tool`;
    const { status, stdout } = runSallyport(place, ['tool', 'new', name, `--${language}`, '--json']);
    const file = join(place.home, 'tools', 'bin', `${name}.${language}`);
    assert.deepEqual([status, JSON.parse(stdout)], [0, { name, language, file }]);
    assert.equal(statSync(file).mode & 0o777, 0o755);
    assert.deepEqual(askFile(file, input), output);
    const schema = runFile(file, ['--schema']);
    const { name: described, requests } = parseToolDescription(JSON.parse(schema.stdout) as Json);
    assert.deepEqual([described, requests.risk, requests.mutates, requests.idempotent], [name, 'low', false, true]);
  });
}

test('the templates fail as a tool should: a message for the caller and an exit code', () => {
  const fail = (language: string, input: object) =>
    runFile(join(place.home, 'tools', 'bin', `my.${language}-tool.${language}`), [], JSON.stringify(input));
  assert.deepEqual(fail('ts', { name: ' ' }), { status: 3, stdout: '', stderr: 'The name is blank.\n' });
  assert.deepEqual(fail('py', { name: ' ' }), { status: 1, stdout: '', stderr: 'The name is blank.\n' });
  assert.deepEqual(fail('sh', { from: 101 }), { status: 2, stdout: '', stderr: 'from must be between 1 and 100.\n' });
});

test('a person is told the next steps', () => {
  const { status, stdout } = runSallyport(place, ['tool', 'new', 'text.count']);
  assert.equal(status, 0);
  assert.match(stdout, /text\.count\.ts\n[^]*sallyport tool dev text\.count\n[^]*sallyport tool accept text\.count\n$/);
  const elsewhere = runSallyport(place, ['tool', 'new', 'text.count', '--folder', 'some where']);
  assert.match(elsewhere.stdout, /sallyport tool install '.*\/some where\/text\.count\.ts'\n/);
  assert.ok(statSync(join(place.folder, 'some where', 'text.count.ts')).isFile());
});

test('what is there stays as it is, whatever it is', () => {
  const folder = join(place.folder, 'taken');
  mkdirSync(folder);
  writeFileSync(join(folder, 'mine.py'), 'my work');
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'linked.sh'));
  for (const [name, language] of [
    ['mine', 'py'],
    ['linked', 'sh'],
  ]) {
    const { status, stderr } = runSallyport(place, ['tool', 'new', `${name}`, `--${language}`, '--folder', folder]);
    assert.equal(status, 1);
    assert.match(stderr, /exists and stays as it is/);
  }
  assert.equal(readFileSync(join(folder, 'mine.py'), 'utf8'), 'my work');
  assert.throws(() => statSync(join(folder, 'elsewhere')), { code: 'ENOENT' });
  const inFile = runSallyport(place, ['tool', 'new', 'x', '--folder', join(folder, 'mine.py')]);
  assert.match(inFile.stderr, /cannot be written/);
});

test('a name that no tool can have, or two languages, are refused before anything is written', () => {
  for (const name of ['../evil', 'Upper', 'a b', 'a'.repeat(65), 'x@1']) {
    const { status, stdout } = runSallyport(place, ['tool', 'new', name, '--json']);
    assert.equal(status, 1);
    assert.match(stdout, /A tool cannot be called/);
  }
  assert.match(runSallyport(place, ['tool', 'new', 'two', '--ts', '--py']).stderr, /written in one language/);
});
