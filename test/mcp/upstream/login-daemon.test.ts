import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { environmentOf, newPlace, TestDaemon } from '../../harness/daemon.ts';
import type { Place } from '../../harness/daemon.ts';
import { openLoginWorld } from './login-kit.ts';

const program = join(import.meta.dirname, '../../../packages/cli/bin/sallyport.mjs');

interface Said {
  readonly code: number;
  readonly said: string;
}

/** Runs a command while this process goes on serving. `hear` gets everything that was said so far. */
async function run(
  place: Place,
  args: readonly string[],
  hear: (said: string) => void = () => undefined,
): Promise<Said> {
  const child = spawn(process.execPath, [program, 'upstream', ...args], {
    env: environmentOf(place, {}),
    cwd: place.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => hear((said += data.toString())));
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

test('an operator logs in with a browser; nothing of it is written in the clear, and it stands after a restart', async (context) => {
  const server = await openLoginWorld(context);
  const place = newPlace();
  let daemon = await TestDaemon.start(place);
  context.after(() => daemon.remove());
  const host = new URL(server.issuer).host;
  const added = await run(place, ['add', 'portal', '--url', server.url, '--login-hosts', host, '--yes']);
  assert.equal(added.code, 0, added.said);
  assert.match((await run(place, ['test', 'portal'])).said, /needs a login.*sallyport upstream login portal/s);
  assert.match((await run(place, ['list'])).said, /portal +http +needs login/);
  let opened: Promise<Response> | undefined;
  const { code, said } = await run(place, ['login', 'portal'], (heard) => {
    const page = /^ +(http\S+)\n/m.exec(heard)?.[1];
    if (page !== undefined) opened ??= server.agree(new URL(page));
  });
  assert.equal(code, 0, said);
  assert.match(said, /Open this page and agree there:/);
  assert.match(said, /Logged in at the upstream portal\. It has 2 tools\./);
  assert.match((await (await opened)?.text()) ?? '', /The login is complete/);
  assert.match((await run(place, ['show', 'portal'])).said, /login {2}by http:\/\/127\.0\.0\.1/);
  await daemon.kill('SIGTERM');
  daemon = await TestDaemon.start(place);
  server.expire();
  const tested = await run(place, ['test', 'portal']);
  assert.equal(tested.code, 0, tested.said);
  assert.equal(server.tokenRequests.length, 2);
  assert.equal((await run(place, ['logout', 'portal', '--yes'])).code, 0);
  assert.match((await run(place, ['list'])).said, /portal +http +needs login/);
  const records = JSON.stringify(await daemon.records());
  assert.match(records, /upstreams\.login/);
  assert.match(records, /upstreams\.logout/);
  await daemon.kill('SIGTERM');
  const files = globSync('**/*', { cwd: place.home, withFileTypes: true }).filter((entry) => entry.isFile());
  const written = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n');
  assert.ok(files.length > 5);
  assert.equal(server.secrets.length, 5);
  for (const secret of server.secrets) assert.ok(!`${records}${written}${said}`.includes(secret), secret);
});
