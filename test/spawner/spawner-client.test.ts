import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ProgramLost, ProgramNotStarted } from '../../packages/sandbox/src/program.ts';
import { NetworkLog } from '../../packages/sandbox/src/network-log.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { readProcess } from '../../packages/sandbox/src/limits/read-process.ts';
import { requirement } from '../requirement.ts';
import { eventually, findProcesses, finish, listLeftovers, program, shell, uniqueSeconds } from './programs.ts';
import { withClient } from './with-client.ts';

const isLost = (error: unknown): boolean => error instanceof ProgramLost;

for (const isolation of ['sandbox', 'none'] as const) {
  test(`${isolation}: when the spawner is killed, its programs are gone, their runs say so, and the next run works`, async () => {
    requirement('EXEC-5');
    const troubles: string[] = [];
    await withClient({ maxRunning: 1, onTrouble: (message) => troubles.push(message) }, async (client) => {
      const seconds = uniqueSeconds();
      const running = finish(client, shell(`(setsid sleep ${seconds} &); sleep ${seconds}`, { isolation }));
      const waiting = finish(client, shell('echo still here', { isolation }));
      await eventually(() => findProcesses(`sleep\0${seconds}`).length === 2, 'two processes sleep');
      process.kill(client.spawnerPid as number, 'SIGKILL');
      await assert.rejects(running, isLost);
      assert.deepEqual(findProcesses(seconds), [], 'nothing is left when the run rejects');
      assert.equal((await waiting).stdout, 'still here\n');
      assert.equal(troubles.length, 1);
    });
  });
}

test('a program that crashes leaves other programs and the spawner alone', async () => {
  requirement('EXEC-5');
  await withClient({}, async (client) => {
    const pid = client.spawnerPid;
    const other = finish(client, shell('sleep 0.3; echo fine'));
    const crashed = await finish(client, shell('kill -SEGV $$'));
    assert.deepEqual(crashed.how, { kind: 'exited', code: 139 });
    assert.equal((await other).stdout, 'fine\n');
    assert.equal(client.spawnerPid, pid);
  });
});

test('close kills what runs, answers what waits, and leaves nothing', async () => {
  const client = new SpawnerClient({ maxRunning: 1 });
  const seconds = uniqueSeconds();
  const running = finish(client, shell(`(setsid sleep ${seconds} &); sleep ${seconds}`));
  const waiting = finish(client, shell('true'));
  await eventually(() => findProcesses(`sleep\0${seconds}`).length === 2, 'two processes sleep');
  const pid = client.spawnerPid;
  await Promise.all([client.close(), client.close()]);
  assert.deepEqual([(await running).how, (await waiting).how], [{ kind: 'aborted' }, { kind: 'aborted' }]);
  assert.deepEqual(findProcesses(seconds), []);
  assert.deepEqual(listLeftovers([pid]), []);
  await assert.rejects(finish(client, shell('true')), ProgramNotStarted);
});

test('a spawner can be closed before it is ready', async () => {
  const client = new SpawnerClient();
  const pid = client.spawnerPid;
  await client.close();
  assert.deepEqual(listLeftovers([pid]), []);
});

test('a failure of the spawner that nobody foresaw ends the spawner, not the daemon', async () => {
  requirement('EXEC-5');
  await withClient({}, async (client) => {
    const before = client.spawnerPid;
    const broken = { ...shell('true'), limits: null } as unknown as ReturnType<typeof shell>;
    await assert.rejects(finish(client, broken), isLost);
    assert.deepEqual((await finish(client, shell('true'))).how, { kind: 'exited', code: 0 });
    assert.notEqual(client.spawnerPid, before);
  });
});

test('the spawner does not answer to signals of the terminal', async () => {
  await withClient({}, async (client) => {
    const stat = readFileSync(`/proc/${client.spawnerPid}/stat`, 'utf8');
    const [, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    assert.equal(Number(session), client.spawnerPid);
  });
});

test('descriptors that the daemon inherited do not reach the programs', async () => {
  const script = `
    import { SpawnerClient } from '${join(import.meta.dirname, '../../packages/sandbox/src/spawner/spawner-client.ts')}';
    import { finish, program } from '${join(import.meta.dirname, 'programs.ts')}';
    const client = new SpawnerClient();
    const list = async (isolation) => (await finish(client, program(['/bin/ls', '/proc/self/fd'], { isolation }))).stdout;
    process.stdout.write(JSON.stringify([await list('sandbox'), await list('none')]));
    await client.close();`;
  // A shell hands down a descriptor with a high number, which Node does not find by itself.
  const command = 'exec 200</etc/passwd; exec "$0" --input-type=module --eval "$1"';
  const { stdout, stderr } = spawnSync('/bin/bash', ['-c', command, process.execPath, script], { encoding: 'utf8' });
  assert.notEqual(stdout, '', stderr);
  for (const listed of JSON.parse(stdout) as string[]) {
    // The last one is that with which the list is read.
    assert.deepEqual(listed.trim().split('\n'), ['0', '1', '2', '3']);
  }
});

test('what a killed spawner and its killed janitor left is removed by the next spawner', async () => {
  const seconds = uniqueSeconds();
  const client = new SpawnerClient();
  await client.abilities;
  const pid = client.spawnerPid as number;
  const running = finish(client, shell(`setsid sleep ${seconds} & sleep ${seconds}`, { isolation: 'none' }));
  await eventually(() => findProcesses(`sleep\0${seconds}`).length === 2, 'two processes sleep');
  const [janitor] = findProcesses('sallyport-janitor').filter((each) => readProcess(each)?.parentPid === pid);
  process.kill(janitor as number, 'SIGKILL');
  process.kill(pid, 'SIGKILL');
  await assert.rejects(running, isLost);
  await eventually(() => findProcesses(seconds).length === 0, 'the next spawner ends what was left');
  await eventually(() => listLeftovers([pid]).length === 0, 'and removes it');
  await client.close();
});

test('a program that is granted hosts is let out to them only, and what it asked for besides is told', async () => {
  await withClient({}, async (client) => {
    const ask =
      'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT other.test:443 HTTP/1.1\\r\\nHost: other.test:443\\r\\n\\r\\n" >&3; head -n 1 <&3; echo $HTTPS_PROXY';
    const asking = program(['/bin/bash', '-c', ask], { hosts: ['granted.test'] });
    const network = new NetworkLog();
    const { stdout, usage } = await finish(client, asking, { onNetwork: (events) => network.add(...events) });
    assert.match(stdout, /^HTTP\/1\.1 403 [^]*127\.0\.0\.1:3128/);
    assert.deepEqual([network.targetsOf('refused'), usage.networkConnections], [['other.test:443'], 0]);
    const shut = await finish(client, program(['/bin/bash', '-c', ask]));
    assert.equal(shut.stdout.includes('HTTP'), false, 'without hosts there is nobody to ask');
  });
});
