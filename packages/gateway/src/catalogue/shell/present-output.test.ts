import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkLog } from '@sallyport/sandbox';
import { presentOutput } from './present-output.ts';

const nothing = { bytes: Buffer.alloc(0), truncated: false, totalBytes: 0 };
const ended = {
  how: { kind: 'exited', code: 0 },
  stdout: nothing,
  stderr: nothing,
  network: new NetworkLog(),
} as const;

test('an exit code is a result; a signal has the code that shells give it', () => {
  assert.deepEqual(presentOutput({ ...ended, how: { kind: 'exited', code: 3 } }), {
    exit_code: 3,
    stdout: '',
    stderr: '',
  });
  const killed = presentOutput({ ...ended, how: { kind: 'killed', signal: 'SIGSEGV' } });
  assert.deepEqual([killed.exit_code, killed['signal']], [139, 'SIGSEGV']);
});

test('text that goes on elsewhere ends at a whole character and says where', () => {
  const bytes = Buffer.from('ab€');
  for (const cut of [3, 4]) {
    const stdout = { bytes: bytes.subarray(0, cut), truncated: true, totalBytes: 900, contentHash: 'abc' };
    assert.deepEqual(presentOutput({ ...ended, stdout }), {
      exit_code: 0,
      stdout: 'ab',
      stderr: '',
      stdout_truncated: true,
      stdout_bytes: 900,
      stdout_hash: 'abc',
    });
  }
});

test('bytes that are no text are marked as such', () => {
  const stderr = { bytes: Buffer.from([0x61, 0xff]), truncated: false, totalBytes: 2 };
  const { stderr: text, stderr_lossy: lossy } = presentOutput({ ...ended, stderr });
  assert.deepEqual([text, lossy], ['a\uFFFD', true]);
});

test('hosts that were refused are told', () => {
  const network = new NetworkLog();
  network.add({ outcome: 'refused', target: 'example.com:443', times: 1 });
  const { refused_hosts: refused } = presentOutput({ ...ended, network });
  assert.deepEqual(refused, ['example.com:443']);
});
