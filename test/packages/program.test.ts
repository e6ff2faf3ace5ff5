import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { requirement } from '../requirement.ts';
import { InstalledPackages } from './installed-packages.ts';

const installed = new InstalledPackages();
const workspace = join(installed.folder, 'work');
let daemon: ChildProcess;
let address: string;

before(async () => {
  await installed.install(['sallyport'], 'global');
  mkdirSync(workspace);
  for (const folder of [installed.folder, workspace]) chmodSync(folder, 0o755);
  const env = installed.environment({ SALLYPORT_PORT: '0' });
  daemon = spawn('sallyport', ['up', '--json'], { env, cwd: workspace, stdio: ['ignore', 'pipe', 'inherit'] });
  address = await new Promise<string>((resolve, reject) => {
    let output = '';
    daemon.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const [line] = output.split('\n').filter((text) => text.endsWith('}'));
      if (line !== undefined) resolve((JSON.parse(line) as { address: string }).address);
    });
    daemon.once('exit', (code) => reject(new Error(`the daemon ended with ${code}: ${output}`)));
  });
});
after(async () => {
  if (daemon.exitCode === null) {
    const ended = once(daemon, 'exit');
    daemon.kill('SIGTERM');
    await ended;
  }
  installed.remove();
});

function sallyport(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('sallyport', args, {
    env: installed.environment(),
    cwd: workspace,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, stdout, text: `${stdout}${stderr}` };
}

function succeed(...args: string[]): string {
  const { status, stdout, text } = sallyport(...args);
  assert.equal(status, 0, text);
  return stdout;
}

test('the package is small, and has no test, map or source in it', () => {
  const tarball = installed.tarballs.get('sallyport') ?? '';
  assert.ok(statSync(tarball).size < 3_000_000, `${statSync(tarball).size} bytes`);
  const names = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).stdout.trim().split('\n');
  assert.ok(names.length > 50);
  // The SDK is a package of its own in there, which tools are given.
  const isForeign = (name: string): boolean => /\.(?:ts|tsx|map)$|test|node_modules|\/src\//.test(name);
  assert.deepEqual(
    names.filter((name) => isForeign(name.replace('/sdk/src/', '/sdk/').replace('/test-tool.js', ''))),
    [],
  );
  const code = spawnSync('tar', ['-xzOf', tarball], { encoding: 'utf8', maxBuffer: 64 << 20 }).stdout;
  assert.ok(!code.includes('sourceMappingURL=main'), 'no reference to a map');
});

test('an installed gate serves calls and refuses what no rule allows', () => {
  requirement('PKG-1');
  assert.match(succeed('tool', 'invoke', 'files.write', 'path=hello.txt', 'content=hi'), /hello\.txt/);
  assert.match(succeed('tool', 'invoke', 'files.read', 'path=hello.txt'), /hi/);
  assert.equal(sallyport('tool', 'invoke', 'files.read', 'path=/etc/passwd').status, 3);
  // Commands that it suggests can be typed as they are.
  assert.match(sallyport('policy', 'explain', 'files.delete', 'path=hello.txt').text, /files\.delete/);
});

test('the console opens from the package', async () => {
  const opened = JSON.parse(succeed('console', '--json')) as { link: string };
  const link = new URL(opened.link);
  assert.equal(link.origin, address);
  const page = await (await fetch(link)).text();
  const [, script = ''] = /<script[^>]+src="([^"]+)"/.exec(page) ?? [];
  const asset = await fetch(new URL(script, link));
  assert.deepEqual([asset.status, asset.headers.get('content-type')?.split(';')[0]], [200, 'text/javascript']);
  await asset.arrayBuffer();
  const code = link.hash.slice('#code='.length);
  const login = await fetch(new URL('/console/login', link), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: link.origin },
    body: JSON.stringify({ code }),
  });
  assert.equal(login.status, 200, await login.text());
  const described = (await (await fetch(new URL('/openapi.json', link))).json()) as { openapi: string };
  assert.match(described.openapi, /^3\./);
});

test('a tool that is written with the SDK is served', () => {
  succeed('tool', 'new', 'greet', '--ts');
  succeed('tool', 'accept', 'greet', '--yes');
  assert.match(succeed('tool', 'invoke', 'greet', 'name=Zoë', '--yes'), /Hello, Zoë!/);
});

test('programs outside call the gate with the packed SDK, on the Node of the machine', async () => {
  const project = await installed.install(['sdk'], 'project', 'caller');
  const created = JSON.parse(succeed('session', 'create', 'caller', '--json')) as { token: string };
  const file = join(project, 'call.mjs');
  writeFileSync(
    file,
    `import { createClient } from '@sallyport/sdk/client';
     import { defineTool, object, string } from '@sallyport/sdk';
     import { testTool } from '@sallyport/sdk/testing';
     const gate = createClient({ address: process.argv[2] });
     const { content } = await gate.callTool('files.read', { path: 'hello.txt' });
     const tool = defineTool({ name: 'a.b', version: '1.0.0', description: 'Says it.', input: object({ a: string() }), run: (x) => x });
     console.log(content, typeof testTool, tool.spec.name);
     gate.close();`,
  );
  const { status, stdout, stderr } = spawnSync(installed.node, [file, address], {
    env: installed.environment({ SALLYPORT_TOKEN: created.token }),
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(status, 0, stderr);
  assert.equal(stdout.trim(), 'hi function a.b');
});

test('the log is verified', () => {
  assert.match(succeed('audit', 'verify'), /intact/i);
});

test('stop ends the daemon, whatever Node the command was started on', async () => {
  const ended = once(daemon, 'exit') as Promise<[number | null]>;
  succeed('stop');
  assert.deepEqual((await ended)[0], 0);
  assert.ok(!existsSync(join(installed.folder, 'home/.sallyport/run/operator/sallyport.sock')));
});
