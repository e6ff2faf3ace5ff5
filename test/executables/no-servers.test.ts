import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newToolPlace, shellProgram, writeProgram } from '../cli/tool-place.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

/** What the process and all that it started listen on: `port` for TCP, the path for sockets of files. */
function listensOn(root: number): Set<string> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const stat = read(`/proc/${name}/stat`);
    if (stat !== '') parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const isWithin = (pid: number): boolean => pid === root || (parents.has(pid) && isWithin(parents.get(pid) ?? 0));
  return new Set([...parents.keys()].filter(isWithin).flatMap(listeningSockets));
}

function listeningSockets(pid: number): string[] {
  const inodes = new Set(socketInodes(pid));
  const tcp = ['tcp', 'tcp6'].flatMap((file) =>
    rows(`/proc/${pid}/net/${file}`)
      .filter((row) => row[3] === '0A' && inodes.has(row[9] ?? ''))
      .map((row) => String(Number.parseInt(row[1]?.split(':').at(-1) ?? '', 16))),
  );
  const unix = rows(`/proc/${pid}/net/unix`).filter((row) => row[3] === '00010000' && inodes.has(row[6] ?? ''));
  return [...tcp, ...unix.map((row) => row[7] ?? 'without a name')];
}

function socketInodes(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

function rows(path: string): string[][] {
  return read(path)
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

test('a tool has no server, no port and no command that starts or stops it', async (t) => {
  requirement('BIN-4');
  const place = newToolPlace(`
  - id: waiting
    effect: allow
    tools: [wait]
    origins: [executable]
    approval: waived
    grants: { write: [$WORKSPACE] }
`);
  const { workspace } = place;
  // Programs that root starts run as another user.
  chmodSync(workspace, 0o777);
  writeProgram(
    place,
    'wait',
    shellProgram('wait', `touch ${workspace}/began; while [ ! -e ${workspace}/go ]; do sleep 0.1; done; echo '{}'`),
  );
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  const before = listensOn(daemon.process.pid ?? 0);
  assert.ok(before.has(new URL(daemon.address).port), [...before].join());
  const accepted = runSallyport(place, ['tool', 'accept', 'wait', '--yes']);
  assert.equal(accepted.status, 0, accepted.stdout + accepted.stderr);
  assert.deepEqual(listensOn(daemon.process.pid ?? 0), before, 'an accepted tool listens nowhere');

  const running = daemon.call('wait', {});
  const answered = running.then(
    (answer) => JSON.stringify(answer),
    (error: unknown) => String(error),
  );
  for (let tries = 0; !existsSync(join(workspace, 'began')); tries++) {
    assert.ok(tries < 300, await Promise.race([answered, Promise.resolve('it does not begin')]));
    await sleep(100);
  }
  assert.deepEqual(listensOn(daemon.process.pid ?? 0), before, 'nor does one that runs');
  await daemon.call('files.write', { path: 'go', content: '' });
  assert.ok((await running).success, await answered);

  const help = runSallyport(place, ['tool', '--help']).stdout;
  const commands = [...help.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name);
  assert.ok(commands.includes('invoke'), help);
  assert.deepEqual(
    commands.filter((name) => /^(?:start|stop|serve|restart|run|up|down)$/.test(name ?? '')),
    [],
  );
});
