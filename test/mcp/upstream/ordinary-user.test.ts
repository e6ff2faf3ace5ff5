import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../../harness/daemon.ts';
import { startRegistry } from '../../harness/npm-registry.ts';
import type { NpmRegistry } from '../../harness/npm-registry.ts';
import { runSallyportBeside } from '../../harness/run-sallyport.ts';
import { newToolPlace } from '../../cli/tool-place.ts';

/** A number that nobody has, so that there is no control group either. */
const uid = 54_322;
const skip = process.getuid?.() === 0 ? false : 'only root can become somebody else';
let daemon: TestDaemon;
let registry: NpmRegistry;

before(async () => {
  if (skip !== false) return;
  registry = await startRegistry();
  const place = newToolPlace('');
  mkdirSync(join(place.folder, 'temporary'));
  execFileSync('chown', ['-R', `${uid}:${uid}`, place.folder, place.home, place.workspace]);
  daemon = await TestDaemon.start(place, {}, { uid });
});
after(async () => {
  if (skip !== false) return;
  registry.close();
  await daemon.remove();
});

test('an ordinary user adds a server from npm where limits can only be watched', { skip }, async () => {
  const { place } = daemon;
  const settings = {
    ...{ npm_config_registry: registry.url, npm_config_fetch_retries: '0' },
    ...{ HOME: place.folder, TMPDIR: join(place.folder, 'temporary') },
  };
  const run = (...args: string[]) => runSallyportBeside(place, ['upstream', ...args], settings, { uid });
  const everything = '@modelcontextprotocol/server-everything';
  const added = await run('add', 'every', '--npm', everything, '--yes');
  assert.equal(added.status, 0, added.stdout + added.stderr);
  assert.match(added.stdout, /pinned as it is now/);
  const tried = await run('test', 'every');
  assert.equal(tried.status, 0, tried.stdout + tried.stderr);
  assert.match(tried.stdout, /every\.echo/);
});
