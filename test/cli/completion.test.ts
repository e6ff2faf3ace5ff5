import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { environmentOf, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { newToolPlace } from './tool-place.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start(newToolPlace());
  const bin = join(daemon.place.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'sallyport'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(bin, 'sallyport'), 0o755);
});
after(() => daemon.remove());

/** What Bash would offer after this much of a line. */
function offered(line: string): readonly string[] {
  const script = 'source <(sallyport completion bash); COMP_POINT=1000; _sallyport; declare -p COMPREPLY';
  const { stdout, stderr } = spawnSync('bash', ['-c', script], {
    env: {
      ...environmentOf(daemon.place, { COMP_LINE: line }),
      PATH: `${join(daemon.place.folder, 'bin')}:${process.env['PATH'] ?? ''}`,
    },
    encoding: 'utf8',
  });
  assert.equal(stderr.replaceAll(/.*compopt.*\n/g, ''), '');
  return [...stdout.matchAll(/\]="([^"]*)"/g)].map(([, word = '']) => word);
}

test('Bash completes commands, names of tools and their arguments', () => {
  requirement('UI-1');
  assert.deepEqual(offered('sallyport tool in'), ['invoke', 'install']);
  assert.deepEqual(offered('sallyport tool invoke files.re'), ['files.read']);
  assert.ok(offered('sallyport tool invoke files.read pa').includes('path='));
  assert.ok(!offered('sallyport tool invoke files.read path=a ').includes('path='), 'it was given');
  assert.ok(offered('sallyport tool invoke files.read --').includes('--input'));
  assert.deepEqual(offered('sallyport completion '), ['bash', 'zsh', 'fish']);
});

test('there is a script for each shell, and an unknown one is refused', () => {
  requirement('UI-1');
  for (const shell of ['bash', 'zsh', 'fish']) {
    assert.match(runSallyport(daemon.place, ['completion', shell]).stdout, /sallyport complete -- /);
  }
  assert.equal(runSallyport(daemon.place, ['completion', 'cmd']).status, 1);
});

test('without a daemon nothing is offered, and nothing is complained about', () => {
  const place = { ...daemon.place, home: join(daemon.place.folder, 'nowhere') };
  assert.deepEqual(runSallyport(place, ['complete', '--', 'tool', 'invoke', '']), {
    status: 0,
    stdout: '',
    stderr: '',
  });
});
