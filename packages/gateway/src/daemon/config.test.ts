import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../call/fault.ts';
import { defaultPort, readConfig } from './config.ts';

test('without any setting the home is ~/.sallyport and the port 4780', () => {
  const config = readConfig({});
  assert.equal(config.home.folder, join(homedir(), '.sallyport'));
  assert.equal(config.port, defaultPort);
  assert.equal(defaultPort, 4780);
  assert.equal(config.startFolder, process.cwd());
  assert.ok(!('workspace' in config));
  assert.deepEqual(
    readConfig({ SALLYPORT_HOME: '', SALLYPORT_PORT: '', SALLYPORT_WORKSPACE: '', INIT_CWD: '' }),
    config,
  );
});

test('settings are taken from the environment, and paths become absolute', () => {
  const config = readConfig({ SALLYPORT_HOME: 'h/../home', SALLYPORT_WORKSPACE: 'w', INIT_CWD: '/start/./here' });
  assert.equal(config.home.folder, resolve('home'));
  assert.equal(config.workspace, resolve('w'));
  assert.equal(config.startFolder, '/start/here');
});

test('a port is a number from 0 to 65535, written as one', () => {
  for (const text of ['0', '1', '4780', '65535', '00080']) {
    assert.equal(readConfig({ SALLYPORT_PORT: text }).port, Number(text));
  }
  for (const text of ['65536', '-1', '1.5', 'http', '0x50', '1e3', ' 80', '80 ', '٣', '999999']) {
    assert.throws(
      () => readConfig({ SALLYPORT_PORT: text }),
      (error) =>
        error instanceof ConfigError &&
        error.message === `SALLYPORT_PORT is not a port: ${text}` &&
        error.remedy === 'Use a number from 1 to 65535, or 0 for any free port.',
      text,
    );
  }
});

test('the program folder holds the shipped rules', () => {
  const { programFolder } = readConfig({});
  assert.ok(existsSync(join(programFolder, 'config', 'governance')));
});

test('the rules of the operator count when they are there, the shipped ones otherwise', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const rulesOf = (name: string) => readConfig({ SALLYPORT_HOME: join(folder, name) }).rulesFolder;
  assert.equal(rulesOf('none'), join(readConfig({}).programFolder, 'config', 'governance'));
  mkdirSync(join(folder, 'own', 'governance'), { recursive: true });
  assert.equal(rulesOf('own'), join(folder, 'own', 'governance'));
});

test('rules of the operator that cannot be reached are not quietly replaced by the shipped ones', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(folder, 'unmounted'), join(folder, 'governance'));
  assert.equal(readConfig({ SALLYPORT_HOME: folder }).rulesFolder, join(folder, 'governance'));
});
