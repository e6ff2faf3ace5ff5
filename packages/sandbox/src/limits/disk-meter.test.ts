import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DiskMeter } from './disk-meter.ts';

const tmpfsType = 0x0102_1994;
const canCount = process.platform === 'linux' && statfsSync(tmpdir()).type !== tmpfsType;
const kilobyte = 1024;

/** Perl that writes 100 KB into a file of its own. */
const put = 'open my $f, ">", "$ARGV[0]/$$"; syswrite $f, "x" x 102400; close $f;';

async function measureWriter(script: string): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-meter-'));
  const child = spawn('perl', ['-e', `$| = 1; ${script}; print "done"; sleep 60`, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const pid = child.pid ?? assert.fail();
  const listProcesses = () => {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    return [...children, pid];
  };
  // No space is ever gone from /proc, so that only the counts of the processes are seen.
  const processes = { measuredBy: 'cgroup', readCpuMs: () => 0, listProcesses } as const;
  const meter = await DiskMeter.open(['/proc'], processes, { isSandboxed: true });
  const measured: number[] = [];
  let isDone = false;
  const done = once(child.stdout, 'data').then(() => (isDone = true));
  while (!isDone) measured.push((await meter.measure()).bytes);
  await done;
  measured.push((await meter.measure()).bytes);
  child.kill('SIGKILL');
  await once(child, 'close');
  rmSync(folder, { recursive: true });
  return measured;
}

test('what children wrote that were waited for counts once, however often one looks', { skip: !canCount }, async () => {
  const measured = await measureWriter(`for (1..200) { if (!fork) { ${put} exit } wait }`);
  const last = measured.at(-1) ?? 0;
  // The entries of the folder are a little more.
  assert.ok(last >= 200 * 100 * kilobyte && last < 220 * 100 * kilobyte, `${last} bytes`);
  assert.deepEqual(
    measured,
    measured.toSorted((a, b) => a - b),
    'it never falls',
  );
});

test('what a child had written when it was seen stays when nobody waits for it', { skip: !canCount }, async () => {
  const script = `$SIG{CHLD} = "IGNORE"; my $pid = fork; if (!$pid) { ${put} sleep 1; exit } waitpid $pid, 0`;
  const last = (await measureWriter(script)).at(-1) ?? 0;
  assert.ok(last >= 100 * kilobyte && last < 200 * kilobyte, `${last} bytes`);
});
