import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { Redactor } from '../../redaction/redact.ts';
import { endsWith, TestWorkspace } from '../files/test-workspace.ts';
import { parseJournalLine, parseMacLine, parseSyslogLine } from './parse-log-lines.ts';
import { systemLogs } from './system-logs.ts';
import { systemMetrics } from './system-metrics.ts';
import { systemProcessHealth } from './system-process-health.ts';

test('metrics are those of this machine', async () => {
  requirement('CAT-3');
  using workspace = new TestWorkspace();
  const answer = await workspace.call(systemMetrics(), {});
  const { cpu, memory, disks } = answer as Record<string, JsonObject>;
  assert.equal(cpu?.['cores'], cpus().length);
  assert.equal(memory?.['total_bytes'], totalmem());
  assert.ok(Number(memory?.['available_bytes']) < totalmem());
  const paths = (disks as unknown as JsonObject[]).map(({ path }) => path);
  assert.deepEqual(paths, ['/', workspace.path]);
});

test('graphics cards are told as the kernel describes them, and none is made up', async () => {
  using workspace = new TestWorkspace();
  const put = (name: string, text: string): void => {
    const file = join(workspace.outside, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  put('drm/card0/device/gpu_busy_percent', '37\n');
  put('drm/card0/device/mem_info_vram_total', '8589934592\n');
  put('drm/card0/device/mem_info_vram_used', '1073741824\n');
  put('drm/card0/device/vendor', '0x1002\n');
  put('drm/card0/device/device', '0x73bf\n');
  // A screen of a virtual machine, and an output of the first card.
  put('drm/card1/device/vendor', '0x1234\n');
  put('drm/card0-HDMI-A-1/status', 'connected\n');
  put('nvidia/0000:01:00.0/information', 'Model: \t\t NVIDIA A100\nIRQ: 12\n');
  const places = { cards: join(workspace.outside, 'drm'), nvidia: join(workspace.outside, 'nvidia') };
  assert.deepEqual((await workspace.call(systemMetrics(places), {}))['gpus'], [
    { name: 'PCI 0x1002:0x73bf', used_percent: 37, memory_total_bytes: 8589934592, memory_used_bytes: 1073741824 },
    { name: 'NVIDIA A100' },
  ]);
  const nowhere = { cards: join(workspace.outside, 'none'), nvidia: join(workspace.outside, 'none') };
  assert.deepEqual((await workspace.call(systemMetrics(nowhere), {}))['gpus'], []);
});

test('a process is found by name and id, stopped or running, without its arguments', async () => {
  requirement('CAT-3');
  using workspace = new TestWorkspace();
  const child = spawn('/bin/sleep', ['123.456'], { stdio: 'ignore' });
  try {
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    const look = (args: JsonObject) => workspace.call(systemProcessHealth(), args);
    const find = async (): Promise<JsonObject> => {
      const { processes } = (await look({ pids: [pid] })) as { processes: JsonObject[] };
      return processes[0] ?? {};
    };
    const { processes } = (await look({ names: ['sleep', 'no-such-program'] })) as { processes: JsonObject[] };
    assert.match(JSON.stringify(processes[0]?.['matches']), new RegExp(`"pid":${pid},`));
    assert.deepEqual(processes[1], { name: 'no-such-program', status: 'missing', matches: [], count: 0 });
    assert.ok(!JSON.stringify(processes).includes('123.456'));
    child.kill('SIGSTOP');
    while ((await find())['status'] !== 'stopped') await setTimeout(5);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal((await find())['status'], 'missing');
  } finally {
    child.kill('SIGKILL');
  }
});

test('a question about no process is refused', () => {
  using workspace = new TestWorkspace();
  assert.throws(
    () => systemProcessHealth().claim({ names: [], pids: [] }, workspace.session),
    endsWith('INVALID_ARGUMENTS'),
  );
});

function openLogs(workspace: TestWorkspace, name = 'syslog') {
  const places = { journal: [], syslog: [workspace.at(name)], macos: [] };
  return systemLogs(places);
}

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

test('a syslog file is read from its end: filtered, bounded and without secrets', async () => {
  using workspace = new TestWorkspace();
  const redactor = new Redactor(['opensesame-42']);
  const lines = [
    `${ago(300)} host sshd[7]: too old`,
    `${ago(30)} host sshd[7]: login with opensesame-42 failed`,
    `${ago(20)} host cron[8]: job done`,
    'a line without a time',
    `${ago(10)} host sshd[9]: Connection CLOSED`,
  ];
  workspace.put('syslog', `${lines.join('\n')}\n`);
  const read = async (args: JsonObject) => {
    const answer = await workspace.call(openLogs(workspace), args, { redact: redactor.redactText });
    const entries = answer['entries'] as JsonObject[];
    return { messages: entries.map(({ message }) => message), truncated: answer['truncated'], entries };
  };
  const all = await read({});
  assert.deepEqual(all.messages, ['login with [redacted] failed', 'job done', 'Connection CLOSED']);
  assert.deepEqual([all.entries[0]?.['program'], all.entries[0]?.['pid']], ['sshd', 7]);
  assert.deepEqual((await read({ program: 'sshd', contains: 'closed' })).messages, ['Connection CLOSED']);
  assert.deepEqual((await read({ contains: 'opensesame' })).messages, [], 'a search does not find what is hidden');
  const newest = await read({ max_entries: 1 });
  assert.deepEqual([newest.messages, newest.truncated], [['Connection CLOSED'], true]);
});

test('only the end of a long file is read, and the answer says so', async () => {
  using workspace = new TestWorkspace();
  const line = `${ago(1)} host app[1]: ${'x'.repeat(1000)}\n`;
  workspace.put('syslog', line.repeat(1500));
  const answer = await workspace.call(openLogs(workspace), { max_entries: 1000 });
  assert.equal(answer['truncated'], true);
  const old = `${ago(1000)} host app[1]: ${'x'.repeat(1000)}\n`;
  workspace.put('syslog', old.repeat(1500) + line);
  const recent = await workspace.call(openLogs(workspace), {});
  assert.deepEqual([(recent['entries'] as unknown[]).length, recent['truncated']], [1, false]);
});

test('the rules decide about the file, and a log that is not there is told', async () => {
  using workspace = new TestWorkspace();
  workspace.put('forbidden-log', 'x');
  await assert.rejects(workspace.call(openLogs(workspace, 'forbidden-log'), {}), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(workspace.call(openLogs(workspace), { source: 'syslog' }), endsWith('NOT_FOUND'));
  // Before a person is asked, and with the places where it was looked for.
  await assert.rejects(workspace.preview(openLogs(workspace), { source: 'syslog' }), /looks for it in: .*syslog/);
  workspace.put('syslog', '');
  await assert.rejects(workspace.call(openLogs(workspace), { priority: 'err' }), endsWith('INVALID_ARGUMENTS'));
});

test('lines of the usual logs are read', () => {
  const nowMs = new Date(2026, 0, 2, 12).getTime();
  const read = parseSyslogLine('Dec 31 23:59:58 host kernel: eth0: link (up)', nowMs);
  assert.deepEqual(read, {
    timeMs: new Date(2025, 11, 31, 23, 59, 58).getTime(),
    program: 'kernel',
    message: 'eth0: link (up)',
  });
  const journal = {
    ...{ __REALTIME_TIMESTAMP: '1794926647312237', PRIORITY: '4', SYSLOG_IDENTIFIER: 'sample', _PID: '20947' },
    MESSAGE: [104, 105, 0xc3, 0xa9],
  };
  assert.deepEqual(parseJournalLine(JSON.stringify(journal)), {
    ...{ timeMs: 1794926647312.237, program: 'sample', pid: 20947, priority: 'warning', message: 'hié' },
  });
  const mac = {
    ...{ timestamp: '2026-11-17 10:00:00.500000+0100', messageType: 'Error', processID: 5 },
    ...{ processImagePath: '/usr/libexec/thing', eventMessage: 'oops' },
  };
  assert.deepEqual(parseMacLine(JSON.stringify(mac)), {
    ...{ timeMs: Date.UTC(2026, 10, 17, 9, 0, 0, 500), program: 'thing', pid: 5, priority: 'err', message: 'oops' },
  });
  for (const line of ['', 'no json', '[1]', 'null']) {
    assert.equal(parseJournalLine(line), undefined);
    assert.equal(parseMacLine(line), undefined);
  }
});
