import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import { noGrants } from '../../call/verdict.ts';
import type { Grants } from '../../call/verdict.ts';
import { openLeavings } from '../leavings/leavings.test-kit.ts';
import { viewFor } from './mounts-for.ts';
import type { ViewContext } from './mounts-for.ts';

const mountsFor = async (context: ViewContext) => (await viewFor(context)).mounts;

const no = refuse('NO_RULE_ALLOWS', 'test-rule', 'No.');

/** What has `secret` in its name cannot be read, what has `settled` in its name cannot be changed. */
class Machine implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-mounts-')));
  readonly work = join(this.base, 'work');
  judged = 0;

  constructor() {
    mkdirSync(this.work);
  }

  put(...names: readonly string[]): void {
    for (const name of names) {
      mkdirSync(dirname(join(this.work, name)), { recursive: true });
      writeFileSync(join(this.work, name), name);
    }
  }

  context(grants: Partial<Grants>): ViewContext {
    return {
      ...openLeavings(),
      grants: { ...noGrants, ...grants },
      signal: new AbortController().signal,
      paths: {
        judge: (path, access) => {
          this.judged++;
          const isInside = path === this.work || path.startsWith(`${this.work}/`);
          const isKept =
            path.includes('secret') || (access === 'write' && path.includes('settled') && !path.includes('.withheld-'));
          return isInside && !isKept ? undefined : no;
        },
      },
    };
  }

  at(name: string): string {
    return join(this.work, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true });
  }
}

function refusedFor(why: RegExp): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof ToolRefused && error.refusal.code === 'UNSAFE_PATH', String(error));
    assert.match(error.message, why);
    return true;
  };
}

test('without grants there is nothing to see', async () => {
  using machine = new Machine();
  assert.deepEqual(await mountsFor(machine.context({})), []);
});

test('what cannot be read is hidden, what cannot be changed is frozen, whole folders first', async () => {
  using machine = new Machine();
  machine.put('a', 'secret/x/y', 'sub/secret.txt', 'sub/settled/z', 'sub/settled/secret', '.git/config', 'v/.git');
  const [mount, ...others] = await mountsFor(machine.context({ write: [machine.work] }));
  assert.deepEqual(others, []);
  assert.deepEqual([mount?.source, mount?.target, mount?.access], [machine.work, machine.work, 'write']);
  assert.deepEqual(
    mount?.hidden?.toSorted(),
    ['secret', 'sub/secret.txt', 'sub/settled/secret'].map((n) => machine.at(n)),
  );
  assert.deepEqual(
    mount?.frozen?.toSorted(),
    ['.git', 'sub/settled', 'v/.git'].map((name) => machine.at(name)),
  );
});

test('a hidden file is hidden under each of its names', async () => {
  using machine = new Machine();
  machine.put('secret', 'deep/down/a', 'b');
  linkSync(machine.at('secret'), machine.at('deep/down/innocent'));
  linkSync(machine.at('b'), machine.at('c'));
  const [mount] = await mountsFor(machine.context({ read: [machine.work] }));
  assert.deepEqual(mount?.hidden?.toSorted(), [machine.at('deep/down/innocent'), machine.at('secret')]);
});

test('what is in a hidden folder is hidden, and what is frozen is frozen, under each of its names', async () => {
  using machine = new Machine();
  machine.put('secret/down/a', '.vscode/tasks.json', '.git/objects/o', 'copy/.git/objects/p', 'b');
  linkSync(machine.at('secret/down/a'), machine.at('a'));
  linkSync(machine.at('secret/down/a'), machine.at('.vscode/a'));
  linkSync(machine.at('.vscode/tasks.json'), machine.at('tasks'));
  linkSync(machine.at('.vscode/tasks.json'), machine.at('.vscode/other'));
  linkSync(machine.at('.git/objects/o'), machine.at('copy/.git/objects/o'));
  const [mount] = await mountsFor(machine.context({ write: [machine.work] }));
  const at = (...names: readonly string[]) => names.map((name) => machine.at(name));
  assert.deepEqual(mount?.hidden?.toSorted(), at('.vscode/a', 'a', 'secret'));
  assert.deepEqual(mount?.frozen?.toSorted(), at('.git', '.vscode', 'copy/.git', 'tasks'));
});

test('in a folder for reading there is nothing to freeze', async () => {
  using machine = new Machine();
  machine.put('a', 'secret', 'settled', '.git/config');
  assert.deepEqual(await mountsFor(machine.context({ read: [machine.work] })), [
    { source: machine.work, target: machine.work, access: 'read', hidden: [machine.at('secret')] },
  ]);
});

test('a granted folder that the rules keep from this call is not shown, or only for reading', async () => {
  using machine = new Machine();
  machine.put('secret/a', 'settled/a');
  const write = [machine.base, machine.at('secret'), machine.at('settled'), machine.at('missing')];
  assert.deepEqual(await mountsFor(machine.context({ write })), [
    { source: machine.at('settled'), target: machine.at('settled'), access: 'read' },
  ]);
});

test('folders inside others become part of them where they can', async () => {
  using machine = new Machine();
  machine.put('out/a', 'out/secret', 'in/a', 'in/deep/a');
  const nestedWrite = await mountsFor(machine.context({ read: [machine.work], write: [machine.at('out')] }));
  assert.deepEqual(nestedWrite, [
    { source: machine.work, target: machine.work, access: 'read' },
    { source: machine.at('out'), target: machine.at('out'), access: 'write', hidden: [machine.at('out/secret')] },
  ]);
  const nestedRead = await mountsFor(
    machine.context({ write: [machine.work, machine.at('out')], read: [machine.at('in'), machine.at('in/deep')] }),
  );
  assert.deepEqual(nestedRead, [
    {
      source: machine.work,
      target: machine.work,
      access: 'write',
      hidden: [machine.at('out/secret')],
      frozen: [machine.at('in')],
    },
  ]);
});

test('links are neither followed nor mounted over; what a forbidden one leads to is closed instead', async () => {
  using machine = new Machine();
  machine.put('real', 'other');
  symlinkSync('real', machine.at('secret-link'));
  symlinkSync(machine.base, machine.at('way-out'));
  symlinkSync('nowhere', machine.at('secret-nowhere'));
  symlinkSync('/etc', machine.at('secret-etc'));
  const [mount] = await mountsFor(machine.context({ write: [machine.work] }));
  assert.deepEqual(mount?.hidden, [machine.at('real')]);
  symlinkSync('.', machine.at('secret-self'));
  await assert.rejects(mountsFor(machine.context({ write: [machine.work] })), refusedFor(/leads to a whole folder/));
});

test('what cannot be hidden is refused: too many files, or a name that is not UTF-8', async () => {
  using machine = new Machine();
  machine.put(...Array.from({ length: 401 }, (_, index) => `secret-${index}`));
  await assert.rejects(mountsFor(machine.context({ read: [machine.work] })), refusedFor(/more than 400/));

  using other = new Machine();
  const odd = (name: string): Buffer => Buffer.concat([Buffer.from(`${other.work}/${name}`), Buffer.from([0xff])]);
  writeFileSync(odd('plain'), '');
  assert.equal((await mountsFor(other.context({ read: [other.work] }))).length, 1);
  writeFileSync(odd('secret'), '');
  await assert.rejects(mountsFor(other.context({ read: [other.work] })), refusedFor(/not UTF-8/));
});

test('folders of the kernel and the whole machine are given to no program', async () => {
  using machine = new Machine();
  for (const folder of ['/', '/proc', '/sys/kernel', '/dev']) {
    await assert.rejects(mountsFor(machine.context({ read: [folder] })), refusedFor(/not a folder/), folder);
  }
});

test('looking stops when the call does', async () => {
  using machine = new Machine();
  machine.put('a');
  const signal = AbortSignal.abort(new Error('stop'));
  await assert.rejects(mountsFor({ ...machine.context({ read: [machine.work] }), signal }), /stop/);
});

test('what appears under a forbidden name is set aside; what was there before, and all else, stays', async () => {
  using machine = new Machine();
  machine.put('a', 'sub/b', 'settled', 'sub/secret');
  const view = await (await viewFor(machine.context({ write: [machine.work] }))).attend('mark');
  machine.put('new', 'sub/settled-too', 'deep/down/settled/x');
  symlinkSync('/etc', machine.at('settled-link'));
  assert.deepEqual((await view.finish()).paths.toSorted(), [
    machine.at('deep/down/settled.withheld-mark'),
    machine.at('settled-link.withheld-mark'),
    machine.at('sub/settled-too.withheld-mark'),
  ]);
  assert.deepEqual(readdirSync(machine.work).toSorted(), [
    'a',
    'deep',
    'new',
    'settled',
    'settled-link.withheld-mark',
    'sub',
  ]);
  assert.deepEqual(readdirSync(machine.at('sub')).toSorted(), ['b', 'secret', 'settled-too.withheld-mark']);
  assert.equal(readFileSync(machine.at('deep/down/settled.withheld-mark/x'), 'utf8'), 'deep/down/settled/x');
});

test('nothing is set aside through a link that took the place of a folder', async () => {
  using machine = new Machine();
  machine.put('sub/b');
  mkdirSync(join(machine.base, 'outside'));
  writeFileSync(join(machine.base, 'outside/settled'), '');
  const view = await (await viewFor(machine.context({ write: [machine.work] }))).attend('mark');
  rmSync(machine.at('sub'), { recursive: true });
  symlinkSync(join(machine.base, 'outside'), machine.at('sub'));
  assert.deepEqual((await view.finish()).paths, []);
  assert.ok(existsSync(join(machine.base, 'outside/settled')));
});
