import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { ToolRefused } from '../call/tool.ts';
import { pinByDescriptor } from './pin-by-descriptor.ts';
import { pinByName } from './pin-by-name.ts';
import { Vanished } from './pin.ts';

const anything = { followLinks: 'last-too', expect: 'anything' } as const;
const itself = { followLinks: 'not-last', expect: 'anything' } as const;
const folder = { followLinks: 'not-last', expect: 'folder' } as const;

async function inFolder(run: (at: (name: string) => string) => void | Promise<void>): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-pin-')));
  try {
    await run((name) => join(base, name));
  } finally {
    rmSync(base, { recursive: true });
  }
}

const kinds = process.platform === 'linux' ? { pinByDescriptor, pinByName } : { pinByName };

for (const [name, pinPath] of Object.entries(kinds)) {
  test(`${name}: a pinned file can be opened and says its real path`, async () => {
    await inFolder((at) => {
      writeFileSync(at('file'), 'content');
      symlinkSync('file', at('link'));
      using pin = pinPath(at('link'), anything);
      assert.equal(pin.readRealPath(), at('file'));
      assert.ok(pin.stat().isFile());
      const fd = pin.reopen(constants.O_RDONLY);
      assert.equal(readFileSync(fd, 'utf8'), 'content');
      closeSync(fd);
    });
  });

  test(`${name}: a link can be pinned itself`, async () => {
    await inFolder((at) => {
      symlinkSync('nowhere', at('link'));
      using pin = pinPath(at('link'), itself);
      assert.ok(pin.stat().isSymbolicLink());
      assert.throws(() => pin.reopen(constants.O_RDONLY), { code: 'ELOOP' });
    });
  });

  test(`${name}: what is no folder, or a link to one, is no folder`, async () => {
    await inFolder((at) => {
      mkdirSync(at('folder'));
      writeFileSync(at('file'), '');
      symlinkSync('folder', at('link'));
      for (const wrong of ['file', 'link']) assert.throws(() => pinPath(at(wrong), folder), { code: 'ENOTDIR' });
      using pin = pinPath(at('folder'), folder);
      assert.equal(pin.readRealPath(), at('folder'));
    });
  });

  test(`${name}: an entry is one component`, async () => {
    await inFolder((at) => {
      mkdirSync(at('folder'));
      using pin = pinPath(at('folder'), folder);
      for (const wrong of ['', '.', '..', 'a/b', '/a', 'a\0']) assert.throws(() => pin.entry(wrong), TypeError);
    });
  });

  test(`${name}: a deleted file has no name any more`, async () => {
    requirement('EXEC-7');
    await inFolder((at) => {
      writeFileSync(at('file'), '');
      using pin = pinPath(at('file'), anything);
      unlinkSync(at('file'));
      assert.throws(() => pin.readRealPath(), Vanished);
    });
  });

  test(`${name}: a file may be called "(deleted)" and hold line breaks in its name`, async () => {
    await inFolder((at) => {
      for (const odd of ['file (deleted)', 'a\nb', '\uFFFD']) {
        writeFileSync(at(odd), '');
        using pin = pinPath(at(odd), anything);
        assert.equal(pin.readRealPath(), at(odd));
      }
    });
  });

  test(`${name}: a folder that is exchanged with a link afterwards is not used through the link`, async () => {
    requirement('EXEC-7');
    await inFolder((at) => {
      mkdirSync(at('folder'));
      mkdirSync(at('outside'));
      using pin = pinPath(at('folder'), folder);
      renameSync(at('folder'), at('moved'));
      symlinkSync('outside', at('folder'));
      try {
        writeFileSync(pin.entry('new'), '');
      } catch (error) {
        assert.ok(error instanceof ToolRefused || error instanceof Vanished);
      }
      assert.deepEqual(readdirSync(at('outside')), []);
    });
  });

  test(`${name}: a parent that is exchanged with a link afterwards is not used through the link`, async () => {
    await inFolder((at) => {
      mkdirSync(at('parent/folder'), { recursive: true });
      mkdirSync(at('outside/folder'), { recursive: true });
      writeFileSync(at('parent/folder/file'), 'inside');
      using pin = pinPath(at('parent/folder/file'), anything);
      renameSync(at('parent'), at('moved'));
      symlinkSync('outside', at('parent'));
      writeFileSync(at('outside/folder/file'), 'outside');
      try {
        const fd = pin.reopen(constants.O_RDONLY);
        assert.equal(readFileSync(fd, 'utf8'), 'inside');
        closeSync(fd);
      } catch (error) {
        assert.ok(error instanceof Vanished);
      }
    });
  });

  test(`${name}: a pipe does not hang`, { timeout: 60_000 }, async () => {
    requirement('EXEC-7');
    await inFolder((at) => {
      execFileSync('mkfifo', [at('pipe')]);
      using pin = pinPath(at('pipe'), anything);
      assert.ok(pin.stat().isFIFO());
      closeSync(pin.reopen(constants.O_RDONLY));
    });
  });
}

test('pinByDescriptor: a name that is not UTF-8 is refused', { skip: process.platform !== 'linux' }, async () => {
  await inFolder((at) => {
    mkdirSync(Buffer.concat([Buffer.from(at('x')), Buffer.from([0xff])]));
    symlinkSync(Buffer.concat([Buffer.from('x'), Buffer.from([0xff])]), at('link'));
    using pin = pinByDescriptor(at('link'), anything);
    assert.throws(() => pin.readRealPath(), ToolRefused);
  });
});

test('pinByName: a link in a parent is refused where links are not followed', async () => {
  await inFolder((at) => {
    mkdirSync(at('real'));
    writeFileSync(at('real/file'), '');
    symlinkSync('real', at('link'));
    assert.throws(() => pinByName(at('link/file'), itself), ToolRefused);
  });
});
