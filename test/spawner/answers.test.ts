import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { eventually, findProcesses, finish, listLeftovers, shell, uniqueSeconds } from './programs.ts';
import type { Changes } from './programs.ts';

async function withClient(use: (client: SpawnerClient) => Promise<void>): Promise<void> {
  const client = new SpawnerClient();
  await client.abilities;
  const pid = client.spawnerPid;
  try {
    await use(client);
    assert.equal(client.spawnerPid, pid, 'the spawner lives');
  } finally {
    await client.close();
  }
  assert.deepEqual(listLeftovers([pid]), []);
}

const answering = (script: string, changes: Changes = {}) => shell(script, { mayAnswer: true, ...changes });
const say = (text: string): string => `printf '\\036%s %d\\n%s' $SALLYPORT_ANSWER ${Buffer.byteLength(text)} '${text}'`;

test('with its answer a program is ended, and all that it started', async () => {
  await withClient(async (client) => {
    const seconds = uniqueSeconds();
    const script = `(setsid sleep ${seconds} &); echo working >&2; ${say('{"a":1}')}; sleep ${seconds}; echo never`;
    const { how, stdout, stderr, usage } = await finish(client, answering(script));
    assert.deepEqual(findProcesses(seconds), [], 'nothing is left when the run settles');
    assert.deepEqual([how, stdout, stderr], [{ kind: 'answered' }, '{"a":1}', 'working\n']);
    assert.equal(usage.measuredBy, 'cgroup');
    assert.ok((usage.cpuMs ?? 0) > 0 && (usage.peakMemoryBytes ?? 0) > 0);
  });
});

test('an answer larger than every buffer arrives whole', async () => {
  await withClient(async (client) => {
    const size = 3 * 1024 * 1024;
    const script = `printf '\\036%s %d\\n' $SALLYPORT_ANSWER ${size}; head -c ${size} /dev/zero | tr '\\0' x; sleep 1000`;
    const { how, stdout } = await finish(client, answering(script));
    assert.deepEqual(how, { kind: 'answered' });
    assert.equal(stdout, 'x'.repeat(size));
  });
});

test('a program that prints and ends is what it always was', async () => {
  await withClient(async (client) => {
    const plain = await finish(client, answering('echo "{}"; sleep 0.2; echo more; exit 3'));
    assert.deepEqual([plain.how, plain.stdout], [{ kind: 'exited', code: 3 }, '{}\nmore\n']);
    const silent = await finish(client, answering('exit 0'));
    assert.deepEqual([silent.how, silent.stdout], [{ kind: 'exited', code: 0 }, '']);
  });
});

test('a second answer, half of one, or one with the sign of another is an error, and the program is ended', async () => {
  await withClient(async (client) => {
    const forged = `SALLYPORT_ANSWER=${'0'.repeat(32)}; ${say('{}')}; sleep 1000`;
    const scripts = {
      twice: `${say('{}')}; ${say('{}')}; sleep 1000`,
      more: `x=$(${say('{}')}; echo x); printf '%s' "$x"; sleep 1000`,
      half: `printf '\\036%s 100\\n{}' $SALLYPORT_ANSWER`,
      forged,
      endless: `printf '\\036'; yes | tr -d '\\n' | head -c 1000; sleep 1000`,
    };
    for (const [name, script] of Object.entries(scripts)) {
      const { how } = await finish(client, answering(script));
      // Whether what follows an answer was written before the end came is a race, in which nothing wrong can win.
      if (name === 'twice' && how.kind === 'answered') continue;
      assert.deepEqual(how, { kind: 'misanswered' }, name);
    }
  });
});

test('nobody is told a sign who could reach beyond the sandbox, and nobody keeps one that was not given', async () => {
  await withClient(async (client) => {
    const mount = { source: '/tmp', target: '/shown', access: 'write' } as const;
    const environment = { SALLYPORT_ANSWER: 'not from the gate' };
    const untold: readonly Changes[] = [
      { mayAnswer: false },
      { mounts: [mount] },
      { hosts: ['example.com'] },
      { unixSockets: true },
      { isolation: 'none' },
    ];
    for (const changes of untold) {
      const { how, stdout } = await finish(client, answering('env', { ...changes, environment }));
      assert.deepEqual(how, { kind: 'exited', code: 0 });
      assert.doesNotMatch(stdout, /SALLYPORT_ANSWER/, JSON.stringify(changes));
    }
  });
});

test('each process has a sign of its own, that of another is no answer', async () => {
  await withClient(async (client) => {
    const signs = await Promise.all([1, 2].map(() => finish(client, answering('echo $SALLYPORT_ANSWER'))));
    assert.match(signs[0]?.stdout ?? '', /^[0-9a-f]{32}\n$/);
    assert.notEqual(signs[0]?.stdout, signs[1]?.stdout);
    const replayed = `printf '\\036%s 2\\n{}' ${signs[0]?.stdout.trim()}; sleep 1000`;
    assert.deepEqual((await finish(client, answering(replayed))).how, { kind: 'misanswered' });
  });
});

test('a limit or an abort counts for more than half an answer', async () => {
  await withClient(async (client) => {
    const begun = `printf '\\036%s 100000000\\n' $SALLYPORT_ANSWER`;
    const flooding = answering(`${begun}; cat /dev/zero`, { limits: { outputBytes: 100_000 } });
    assert.deepEqual((await finish(client, flooding)).how, { kind: 'limit', limit: 'outputBytes' });
    const slow = answering(`${begun}; sleep 1000`);
    assert.deepEqual((await finish(client, slow, { signal: AbortSignal.timeout(300) })).how, { kind: 'aborted' });
  });
});

test('a program that was started ahead answers one run and is never used again', async () => {
  await withClient(async (client) => {
    const mark = uniqueSeconds();
    const warm = (stdin: string) => answering(`read -r line; ${say('{"ok":1}')}; sleep 1000; : ${mark}`, { stdin });
    const pids = new Set<string>();
    for (const round of [1, 2, 3]) {
      client.prepare('key', warm(''));
      await eventually(() => findProcesses(`: ${mark}`).length === 3, 'a program waits');
      // Until the client has heard.
      await sleep(300);
      const before = findProcesses(`: ${mark}`).map(String);
      const { how, stdout } = await finish(client, warm(`${round}\n`), { warmKey: 'key' });
      assert.deepEqual([how, stdout], [{ kind: 'answered' }, '{"ok":1}']);
      assert.ok(!before.some((pid) => pids.has(pid)));
      for (const pid of before) pids.add(pid);
      assert.ok(!findProcesses(`: ${mark}`).some((pid) => before.includes(String(pid))), 'it is gone');
    }
  });
});

test('a program that answers before it was asked serves nobody', async () => {
  await withClient(async (client) => {
    const mark = uniqueSeconds();
    const eager = (stdin: string) =>
      answering(`sleep 1; ${say('"early"')}; read -r line; sleep 1000; : ${mark}`, { stdin });
    client.prepare('key', eager(''));
    await eventually(() => findProcesses(`: ${mark}`).length > 0, 'it starts');
    await eventually(() => findProcesses(`: ${mark}`).length === 0, 'it is ended');
    // A fresh one has been asked by the time it runs.
    const { how, stdout } = await finish(client, eager('late\n'), { warmKey: 'key' });
    assert.deepEqual([how, stdout], [{ kind: 'answered' }, '"early"']);
  });
});
