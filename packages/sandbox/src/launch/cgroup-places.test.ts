import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { distinctPlaces, enableControllers, findPlaces, killPlace } from './cgroup-places.ts';

const v1 = (controller: string, root = '/'): string =>
  `30 29 0:26 ${root} /sys/fs/cgroup/${controller} rw,relatime - cgroup cgroup rw,${controller}`;
const v2 = (folder: string, root = '/'): string => `40 29 0:36 ${root} ${folder} rw,relatime - cgroup2 cgroup2 rw`;

test('with version 2 alone, groups go inside our own, or as near above it as they may', () => {
  const places = findPlaces(v2('/sys/fs/cgroup'), '0::/user.slice/app.slice/term.scope');
  assert.deepEqual(
    places.map(({ cpu }) => cpu.folder),
    [
      '/sys/fs/cgroup/user.slice/app.slice/term.scope',
      '/sys/fs/cgroup/user.slice/app.slice',
      '/sys/fs/cgroup/user.slice',
      '/sys/fs/cgroup',
    ],
  );
  const [first] = places;
  assert.ok(first !== undefined && distinctPlaces(first).length === 1);
});

test('with both versions, each controller is used where it is, inside the group of this process', () => {
  const mounts = [v1('memory'), v1('pids'), v1('cpuacct'), v2('/sys/fs/cgroup/unified')].join('\n');
  const [both, only1] = findPlaces(mounts, '4:memory:/job/7\n8:pids:/\n2:cpuacct:/\n0::/');
  assert.deepEqual(both, {
    cpu: { folder: '/sys/fs/cgroup/unified', version: 2 },
    memory: { folder: '/sys/fs/cgroup/memory/job/7', version: 1 },
    processes: { folder: '/sys/fs/cgroup/pids/', version: 1 },
  });
  assert.ok(both !== undefined && killPlace(both).folder === '/sys/fs/cgroup/unified');
  assert.ok(only1 !== undefined && killPlace(only1) === only1.processes);
});

test('in a container that shows a part of the tree, the path of that part is not repeated', () => {
  const [place] = findPlaces(v2('/sys/fs/cgroup', '/docker/abc'), '0::/docker/abc/inner');
  assert.equal(place?.cpu.folder, '/sys/fs/cgroup/inner');
});

test('a tree that does not hold this process is not used', () => {
  assert.deepEqual(findPlaces(v2('/sys/fs/cgroup', '/docker/abc'), '0::/docker/other'), []);
  assert.deepEqual(findPlaces(v2('/sys/fs/cgroup'), '0::/../../elsewhere'), []);
  assert.deepEqual(findPlaces('', ''), []);
});

test('blanks in a mount point are read as the kernel writes them', () => {
  const [place] = findPlaces(v2(String.raw`/mnt/control\040groups`), '0::/');
  assert.equal(place?.cpu.folder, '/mnt/control groups');
});

test('missing controllers are asked for, those that are there are left alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-cgroup-'));
  try {
    const file = join(folder, 'cgroup.subtree_control');
    const here = { folder, version: 2 } as const;
    writeFileSync(file, 'cpu memory\n');
    enableControllers({ cpu: here, memory: here, processes: here });
    assert.equal(readFileSync(file, 'utf8'), '+pids');
    writeFileSync(file, 'memory pids\n');
    enableControllers({ cpu: here, memory: here, processes: here });
    assert.equal(readFileSync(file, 'utf8'), 'memory pids\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
