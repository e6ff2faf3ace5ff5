import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runTestProcess } from '../../scripts/test-process.ts';
import type { TestRun } from '../../scripts/test-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-runner-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const preamble = `import { before, describe, it, test } from 'node:test';\n`;
let count = 0;

async function run(source: string, timeoutMs = 60_000, environment = {}): Promise<TestRun> {
  const file = join(folder, `sample-${++count}.ts`);
  writeFileSync(file, preamble + source);
  return runTestProcess([file], { timeoutMs, environment });
}

function problemsOf({ results }: TestRun): (readonly [name: string, problem: string | undefined])[] {
  return results.map(({ name, problem }) => [name, problem?.split('\n')[0]] as const);
}

test('tests and subtests are counted, suites are not', async () => {
  const { results, output } = await run(`
    console.log('printed by a test');
    test('one', () => {});
    describe('suite', () => { it('two', () => {}); });
    test('three', async (t) => { await t.test('four', () => {}); });`);
  assert.deepEqual(results.map((result) => result.name).sort(), ['four', 'one', 'three', 'two']);
  assert.ok(results.every((result) => result.problem === undefined));
  assert.match(output, /printed by a test/);
});

test('a failure carries the error and where the test stands', async () => {
  const { results } = await run(`\n\ntest('bad', () => { throw new Error('boom'); });`);
  assert.equal(results.length, 1);
  assert.equal(results[0]?.line, 4);
  assert.match(results[0]?.problem ?? '', /Error: boom\n.*sample-/);
});

test('one failure inside a suite is one failure', async () => {
  const result = await run(`describe('suite', () => { it('bad', () => { throw new Error('boom'); }); });`);
  assert.deepEqual(problemsOf(result), [['bad', 'Error: boom']]);
});

test('a failing hook is a failure', async () => {
  const result = await run(
    `describe('suite', () => { before(() => { throw new Error('boom'); }); it('x', () => {}); });`,
  );
  assert.ok(problemsOf(result).some(([name, problem]) => name === 'suite' && problem === 'Error: boom'));
});

test('skipped and unfinished tests are failures', async () => {
  const result = await run(`
    test('skipped', { skip: true }, () => {});
    test('unfinished', { todo: 'later' }, () => {});`);
  assert.deepEqual(problemsOf(result), [
    ['skipped', 'The test is skipped. Make it run or delete it.'],
    ['unfinished', 'The test is marked todo. Finish it or delete it.'],
  ]);
});

test('a file without tests is a failure', async () => {
  const result = await run('export const nothing = before;');
  assert.equal(problemsOf(result)[0]?.[1], 'The file holds no tests.');
});

test('a file that cannot be loaded is a failure', async () => {
  assert.match(problemsOf(await run(`import './does-not-exist.ts';`))[0]?.[1] ?? '', /Cannot find module/);
});

test('a process that leaves in the middle of its tests is a failure, whatever its exit code', async () => {
  for (const code of [0, 7]) {
    const result = await run(`test('leaves', () => { process.exit(${code}); });`);
    assert.deepEqual(problemsOf(result), [
      ['the test process', `The process ended with code ${code} before its tests had ended.`],
    ]);
  }
});

test('a killed process is a failure', async () => {
  const result = await run(
    `test('dies', () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}); });`,
  );
  assert.match(problemsOf(result).at(-1)?.[1] ?? '', /ended with SIGKILL/);
});

test('an error after the end of a test is a failure', async () => {
  const result = await run(`
    test('careless', () => { setTimeout(() => { throw new Error('late'); }, 5); });
    test('patient', () => new Promise((resolve) => setTimeout(resolve, 50)));`);
  assert.ok(problemsOf(result).some(([, problem]) => problem?.includes('late')));
});

test('a test that hangs is killed with everything it started', async () => {
  const result = await run(
    `import { spawn } from 'node:child_process';
     test('hangs', async () => {
       const child = spawn('sleep', ['1000']);
       console.log('pid=' + child.pid);
       setInterval(() => {}, 1000);
       await new Promise(() => {});
     });`,
    1_500,
  );
  assert.match(problemsOf(result).at(-1)?.[1] ?? '', /was killed after 1.5 s/);
  const pid = Number(/pid=(\d+)/.exec(result.output)?.[1]);
  assert.ok(pid > 0, result.output);
  await assertGone(pid);
});

test('a process that something keeps alive after its tests is a failure that names the thing', async () => {
  const source = `import { createServer } from 'node:net';
    test('leaves a server open', () => { createServer().listen(0, '127.0.0.1'); });`;
  const result = await run(source, 60_000, { SALLYPORT_TEST_PATIENCE_MS: '200' });
  assert.deepEqual(problemsOf(result), [
    ['leaves a server open', undefined],
    ['the test process', 'The process ended with code 1 before its tests had ended.'],
  ]);
  assert.match(result.output, /this keeps the process alive: .*TCPServer/);
});

test('what a test leaves running is killed when its process ends', async () => {
  const result = await run(
    `import { spawn } from 'node:child_process';
     test('forgets', () => {
       const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
       child.unref();
       console.log('pid=' + child.pid);
     });`,
  );
  assert.deepEqual(problemsOf(result), [['forgets', undefined]]);
  await assertGone(Number(/pid=(\d+)/.exec(result.output)?.[1]));
});

/** Waits until the process is gone, or dead and not yet collected by its new parent. */
async function assertGone(pid: number): Promise<void> {
  for (;;) {
    try {
      if (/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return;
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
