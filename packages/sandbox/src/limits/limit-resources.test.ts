import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultProgramLimits, ProgramNotStarted } from '../program.ts';
import type { Launch } from '../launch/launch.ts';
import { limitResources } from './limit-resources.ts';

const launch: Launch = { file: '/usr/bin/bwrap', args: ['--', '/bin/true'], environment: {}, descriptors: [] };
const unlimited = { fileBytes: Number.MAX_SAFE_INTEGER, openFiles: 4096, cpuSeconds: Number.MAX_SAFE_INTEGER };

test('a launch runs under its limits and is otherwise the same', () => {
  const limits = { ...defaultProgramLimits, cpuMs: 1500, openFiles: 64, fileBytes: 1000 };
  const limited = limitResources({ ...launch, user: { uid: 7, gid: 7 } }, limits, unlimited);
  assert.deepEqual(limited.args, [
    ...['--core=0:0', '--fsize=1000:1000', '--nofile=64:64', '--cpu=3:4'],
    ...['--', '/usr/bin/bwrap', '--', '/bin/true'],
  ]);
  assert.deepEqual(limited.user, { uid: 7, gid: 7 });
});

test('no limit is asked for that lies above our own', () => {
  const own = { fileBytes: 500, openFiles: 50, cpuSeconds: 2 };
  const { args } = limitResources(launch, defaultProgramLimits, own);
  assert.deepEqual(args.slice(0, 4), ['--core=0:0', '--fsize=500:500', '--nofile=50:50', '--cpu=2:2']);
});

test('a limit under which the sandbox itself could not work is refused', () => {
  const limits = { ...defaultProgramLimits, openFiles: 5 };
  assert.throws(
    () => limitResources(launch, limits, unlimited),
    (error) => error instanceof ProgramNotStarted && error.code === 'LIMIT_UNENFORCEABLE',
  );
});
