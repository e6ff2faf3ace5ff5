import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { environmentOf, newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

interface Failure {
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly denied?: { readonly rationale_code: string; readonly remedy: string };
}

/** Runs it for a person and for a script: the same exit code, no stack trace, and JSON for the script alone. */
function fail(args: readonly string[], code: number, environment: Record<string, string> = {}, place = daemon.place) {
  const human = runSallyport(place, args, environment);
  assert.equal(human.status, code, human.stdout + human.stderr);
  assert.equal(human.stdout, '');
  assert.doesNotMatch(human.stderr, /\.ts:\d+|node:internal/);
  const script = runSallyport(place, [...args, '--json'], environment);
  assert.equal(script.status, code, script.stdout + script.stderr);
  assert.equal(script.stderr, '');
  return { text: human.stderr, json: JSON.parse(script.stdout) as Failure };
}

test('1: a wrong command, option or number says what is possible', () => {
  requirement('UI-1');
  assert.match(fail(['tool', 'lst'], 1).text, /Unknown command 'lst'\n\(Did you mean list\?\)/);
  assert.equal(fail(['status', '--wrong'], 1).json.error?.code, 'USAGE');
  assert.match(fail(['tool', 'invoke'], 1).text, /missing required argument 'name'/i);
  assert.match(fail(['tool', 'invoke', 'files.read', '--timeout-ms', 'soon'], 1).text, /whole number/);
  assert.match(fail(['tool', 'invoke', 'files.read', 'notes.md'], 1).text, /key=value/);
  assert.match(fail(['tool', 'invoke', 'files.read', '--input', '{}', 'path=x'], 1).text, /once/);
  assert.equal(fail(['tool'], 1).json.error?.message, 'No command was given.');
});

test('1: a command for the operator refuses to run with the token of an agent', async () => {
  const environment = { SALLYPORT_TOKEN: await daemon.newAgent('curious') };
  for (const args of [['status'], ['stop'], ['audit', 'tail'], ['session', 'list'], ['session', 'create', 'x']]) {
    assert.match(fail(args, 1, environment).text, /for the operator.*\n.*SALLYPORT_TOKEN/);
  }
});

test('2: without a daemon the message says how to start one', () => {
  requirement('UI-1');
  const place = newPlace();
  for (const args of [['status'], ['tool', 'list'], ['tool', 'invoke', 'files.list'], ['stop'], ['audit', 'tail']]) {
    const { text, json } = fail(args, 2, {}, place);
    assert.match(text, /^Error {2}No daemon answers in .*\n.*npm start/);
    assert.equal(json.status, 'error');
    assert.equal(json.error?.code, 'UNREACHABLE');
  }
  rmSync(place.folder, { recursive: true });
});

test('3: a denial says what, by which rule and why, the remedy, and which call it was', () => {
  requirement('PIPE-4', 'UI-1');
  const { text, json } = fail(['tool', 'invoke', 'files.read', 'path=/etc/passwd'], 3);
  assert.match(
    text,
    /^Denied {2}files\.read\n {2}rule .*\n {2}code +NO_RULE_ALLOWS\n {2}why .*\n {2}remedy .*\n {2}call .*\n$/,
  );
  assert.equal(json.status, 'denied');
  assert.equal(json.denied?.rationale_code, 'NO_RULE_ALLOWS');
});

test('3: an unknown tool comes with suggestions, a wrong token with a plain no', () => {
  requirement('DEF-5');
  assert.match(fail(['tool', 'invoke', 'files.raed', 'path=x'], 3).text, /Did you mean files\.read/);
  assert.match(fail(['tool', 'show', 'files.raed'], 3).text, /Did you mean files\.read/);
  assert.equal(fail(['tool', 'list'], 3, { SALLYPORT_TOKEN: 'sp_wrong' }).json.error?.code, 'UNAUTHENTICATED');
});

test('4: a tool that fails says its code and why', () => {
  const { text, json } = fail(['tool', 'invoke', 'files.read', 'path=none.txt'], 4);
  assert.match(text, /^Failed {2}files\.read\n {2}code +NOT_FOUND\n/);
  assert.equal(json.status, 'error');
  assert.equal(json.error?.code, 'NOT_FOUND');
});

test('130: Ctrl-C during a call closes the connection to the daemon', async () => {
  requirement('PIPE-7');
  const place = newPlace();
  mkdirSync(join(place.home, 'run/operator'), { recursive: true });
  mkdirSync(join(place.home, 'credentials'));
  writeFileSync(join(place.home, 'credentials/operator'), 'secret');
  const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
  // A daemon that is still busy with the call.
  const server = createServer();
  const asked = once(server, 'request');
  server.listen(join(place.home, 'run/operator/sallyport.sock'));
  const child = spawn(process.execPath, [program, 'tool', 'invoke', 'files.read', 'path=x'], {
    env: environmentOf(place),
  });
  const ended = once(child, 'exit');
  const [request] = (await asked) as [{ socket: NodeJS.EventEmitter }];
  const closed = once(request.socket, 'close');
  child.kill('SIGINT');
  const [code] = (await ended) as [number];
  await closed;
  assert.equal(code, 130);
  server.close();
  rmSync(place.folder, { recursive: true });
});
