import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { TerminalSession } from './terminal-session.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

async function show(t: TestContext, args: string[], environment: Record<string, string> = {}): Promise<string> {
  const terminal = new TerminalSession(daemon.place, args, environment);
  t.after(() => terminal.kill());
  await terminal.exitCode();
  return terminal.screen;
}

test('colours appear on a terminal only, and not where NO_COLOR is set', async (t) => {
  requirement('UI-1');
  assert.match(await show(t, ['status']), /\u001b\[32mserving/);
  assert.doesNotMatch(await show(t, ['status'], { NO_COLOR: '1' }), /\u001b/);
  assert.doesNotMatch(runSallyport(daemon.place, ['status']).stdout, /\u001b/);
});

test('tables and explanations fit into the terminal, and lose nothing in a pipe', async (t) => {
  requirement('UI-1');
  const tables = [
    ['tool', 'list'],
    ['tool', 'show', 'files.search'],
    ['audit', 'tail'],
    ['session', 'list'],
  ];
  for (const args of [...tables, ['tool', 'invoke', 'files.read', 'path=/etc/passwd']]) {
    const screen = stripVTControlCharacters(await show(t, args));
    // What is to be copied, and words that cannot be broken, may be longer.
    const wide = screen.split('\n').filter((line) => line.length > 80 && !/npx sallyport|\S{40}/.test(line));
    assert.deepEqual(wide, [], args.join(' '));
  }
  assert.doesNotMatch(runSallyport(daemon.place, ['tool', 'list']).stdout, /…/);
});

test('what people read is broken between words, and rows that have no room are stacked', async (t) => {
  requirement('UI-1');
  const { place } = daemon;
  mkdirSync(join(place.home, 'governance'), { recursive: true });
  cpSync(join(import.meta.dirname, '../../config/governance'), join(place.home, 'governance'), { recursive: true });
  const rules = join(place.home, 'governance', 'tools.yaml');
  const shipped = readFileSync(rules, 'utf8');
  const script = join(place.folder, 'server.mjs');
  cpSync(join(import.meta.dirname, '../mcp/upstream/stdio-server.mjs'), script);
  // Calls whose answer changes, for the replay.
  for (const path of ['a', 'b']) await daemon.call('files.list', { path });
  writeFileSync(
    rules,
    shipped.replace(
      /^rules:\n/m,
      'rules:\n  - id: a-rule-with-quite-a-long-name-indeed\n    effect: deny\n    tools: [files.list]\n',
    ),
  );
  const commands = [
    ['policy', 'explain', 'files.write', 'path=a.txt', 'content=x'],
    ['policy', 'explain', 'shell.run', 'command=ls', '--all'],
    ['policy', 'apply', '--yes'],
    ['policy', 'status'],
    ['policy', 'shadow'],
    ['policy', 'check'],
    ['audit', 'export', join(place.folder, 'out.jsonl')],
    ['upstream', 'list'],
    ['upstream', 'add', 'demo', '--yes', '--read', script, '--', 'node', script, 'good'],
    ['upstream', 'test', 'demo'],
    ['upstream', 'accept', 'demo', '--yes'],
    ['upstream', 'show', 'demo'],
    ['doctor'],
    ['status'],
  ];
  for (const args of commands) {
    const screen = stripVTControlCharacters(await show(t, args));
    // Progress is overwritten.
    const lines = screen.split('\n').map((line) => line.replace(/^[^]*\r/, ''));
    const wide = lines.filter((line) => line.length > 80);
    // What is to be copied starts with two spaces, and a word longer than a line cannot be broken.
    const broken = wide.filter((line) => !/^ +\S*(?:npx|SALLYPORT_HOME=\S+ npx)/.test(line) && !/\S{40,}$/.test(line));
    assert.deepEqual(broken, [], args.join(' '));
  }
});

test('an error of our own is one line and a hint; SALLYPORT_DEBUG shows where it came from', (t) => {
  const place = newPlace();
  t.after(() => rmSync(place.folder, { recursive: true }));
  const port = { SALLYPORT_PORT: 'many' };
  const plain = runSallyport(place, ['status'], port);
  assert.equal(plain.status, 1);
  assert.match(plain.stderr, /^Error {2}SALLYPORT_PORT is not a port: many\n {7}Use a number.*\n$/);
  assert.match(runSallyport(place, ['status'], { ...port, SALLYPORT_DEBUG: '1' }).stderr, /config\.ts:\d+/);
});

test('help and version need no daemon', (t) => {
  const place = newPlace();
  t.after(() => rmSync(place.folder, { recursive: true }));
  const help = runSallyport(place, ['tool', 'help', 'invoke']);
  assert.equal(help.status, 0);
  assert.match(help.stdout, /--dedupe-key/);
  assert.match(runSallyport(place, ['--version']).stdout, /^\d+\.\d+\.\d+\n$/);
});
