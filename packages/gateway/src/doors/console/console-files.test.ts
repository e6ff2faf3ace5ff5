import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConsole } from './console-files.ts';
import { pageRoutes } from './page-routes.ts';

describe('the files of the console', () => {
  it('are its page and its scripts, styles and pictures, and nothing else that lies there', (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-console-'));
    test.after(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'assets'));
    for (const name of [
      'index.html',
      'stamp',
      'assets/a-1.js',
      'assets/a-1.css',
      'assets/a-1.svg',
      'assets/a-1.js.map',
    ]) {
      writeFileSync(join(folder, name), name);
    }
    const files = readConsole([join(folder, 'absent'), folder]) ?? [];
    assert.deepEqual(files.map(({ path }) => path).sort(), [
      '/',
      '/assets/a-1.css',
      '/assets/a-1.js',
      '/assets/a-1.svg',
    ]);
    assert.deepEqual(
      pageRoutes(files).flatMap(({ doors, method }) => [method, ...doors]),
      files.flatMap(() => ['GET', 'tcp']),
    );
  });

  it('give way to a page that says what to do when the console is not built', () => {
    assert.equal(readConsole([join(tmpdir(), 'sallyport-no-such-folder')]), undefined);
    const [route, ...others] = pageRoutes(undefined);
    assert.deepEqual(others, []);
    let sent = '';
    const response = { writeHead: () => undefined, end: (bytes: Buffer) => (sent = bytes.toString()) };
    void route?.handle({} as never, response as never, {} as never);
    assert.match(sent, /npm start/);
  });
});
