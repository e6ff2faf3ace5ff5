import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

const closing = "version: 1\nrules:\n  - id: freeze\n    effect: deny\n    tools: ['*']\n";
const open = "version: 1\nrules:\n  - { id: read, effect: allow, tools: ['files.*'], paths: ['$WORKSPACE/**'] }\n";

test('policy apply refuses rules that would shut the operator out, and says which line is missing where', async () => {
  const place = ownRules(newPlace(), {});
  const daemon = await TestDaemon.start(place);
  try {
    writeFileSync(join(place.home, 'governance', 'tools.yaml'), closing);
    const applied = runSallyport(place, ['policy', 'apply', '--yes']);
    assert.notEqual(applied.status, 0);
    assert.match(applied.stderr.replaceAll(/\s+/g, ' '), /tools\.yaml:3.* freeze .* lacks `who: \[agent\]`/);
    const status = JSON.parse(runSallyport(place, ['policy', 'status', '--json']).stdout) as Record<string, unknown>;
    assert.equal(status['files'], 'broken');
    assert.ok((await daemon.call('files.list', {})).success, 'the rules before stay in force');

    writeFileSync(
      join(place.home, 'governance', 'tools.yaml'),
      closing.replace("['*']\n", "['*']\n    who: [agent]\n"),
    );
    assert.equal(runSallyport(place, ['policy', 'apply', '--yes']).status, 0);
    const agent = await daemon.newAgent('ada');
    assert.equal((await daemon.call('files.list', {}, { token: agent })).denied?.ruleId, 'freeze');
  } finally {
    await daemon.remove();
  }
});

test('out of rules that closed everything, limits and modes included, policy apply on the terminal leads back', async () => {
  const place = ownRules(newPlace(), { 'tools.yaml': open });
  const first = await TestDaemon.start(place);
  await first.kill('SIGTERM');
  // Such rules could be put in force before they were refused.
  const keptFile = join(place.home, 'audit', 'applied-rules.json');
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const limits = "rates: [{ tools: ['*'], per_day: 1 }]\nmax_argument_bytes: 1\n";
  const modes = 'modes: { NORMAL: { max_running: 0, calls_per_minute: 1 } }\n';
  const files = { 'tools.yaml': base64(closing), 'limits.yaml': base64(limits), 'modes.yaml': base64(modes) };
  writeFileSync(keptFile, JSON.stringify(files));
  rmSync(join(place.home, 'keys', 'state.key'));
  const daemon = await TestDaemon.start(place);
  try {
    assert.equal((await daemon.call('sessions.list', {})).denied?.ruleId, 'freeze');
    for (let time = 0; time < 2; time++) runSallyport(place, ['policy', 'status']);
    const applied = runSallyport(place, ['policy', 'apply', '--yes']);
    assert.equal(applied.status, 0, applied.stderr);
    assert.ok((await daemon.call('files.list', {})).success);
  } finally {
    await daemon.remove();
  }
});

test('a first start on rules that shut the operator out says so and does not begin', async () => {
  const place = ownRules(newPlace(), { 'tools.yaml': closing });
  const said = await TestDaemon.start(place).then(
    (daemon) => daemon.remove(),
    (error: unknown) => String(error),
  );
  assert.match(said ?? 'it began', /tools\.yaml:3:1.*lacks `who: \[agent\]`/s);
  rmSync(place.folder, { recursive: true });
});

test('a mistake in notifications.yaml holds up no start; status names it, and a correction counts', async () => {
  const place = ownRules(newPlace(), { 'notifications.yaml': 'version: 1\ndesktop: maybe\n' });
  const daemon = await TestDaemon.start(place);
  try {
    assert.ok((await daemon.call('files.list', {})).success);
    const { stdout } = runSallyport(place, ['status']);
    assert.match(stdout.replaceAll(/\s+/g, ' '), /notifications\.yaml:2:10 desktop must be true or false/);
    writeFileSync(join(place.home, 'governance', 'notifications.yaml'), 'desktop: false\n');
    assert.doesNotMatch(runSallyport(place, ['status']).stdout, /notifications/);
  } finally {
    await daemon.remove();
  }
});

test('rules copied to the home of a running gate come into force with policy apply', async () => {
  const place = newPlace();
  const daemon = await TestDaemon.start(place);
  try {
    const agent = await daemon.newAgent('ada');
    assert.ok((await daemon.call('files.list', {}, { token: agent })).success);
    const own = join(place.home, 'governance');
    mkdirSync(own);
    writeFileSync(join(own, 'tools.yaml'), "rules: [{ id: own, effect: deny, tools: ['*'], who: [agent] }]\n");
    const status = JSON.parse(runSallyport(place, ['policy', 'status', '--json']).stdout) as Record<string, unknown>;
    assert.equal(status['files'], 'changed');
    assert.equal(status['folder'], own, 'the files that changed, not those that were applied');
    assert.match(String(status['appliedFolder']), /config\/governance$/);
    const applied = runSallyport(place, ['policy', 'apply', '--yes']);
    assert.equal(applied.status, 0, applied.stderr);
    assert.equal((await daemon.call('files.list', {}, { token: agent })).denied?.ruleId, 'own');
    assert.equal((await daemon.status())['rulesFolder'], own);
    writeFileSync(join(own, 'notifications.yaml'), 'desktop: maybe\n');
    assert.match(runSallyport(place, ['status']).stdout.replaceAll(/\s+/g, ' '), /desktop must be true/);
  } finally {
    await daemon.remove();
  }
});
