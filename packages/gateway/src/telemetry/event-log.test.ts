import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor } from '../redaction/redact.ts';
import { EventLog } from './event-log.ts';
import type { Level } from './event-log.ts';
import { ownText } from '../call/redacted.ts';

function openLog(level: Level = 'debug', redact = ownText) {
  const written: string[] = [];
  const sink = new Writable({ write: (chunk: Buffer, _encoding, done) => (written.push(String(chunk)), done()) });
  const log = new EventLog({ sink, level, redact });
  return { log, lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('an event is one line of JSON with time, level and name', () => {
  const { log, lines } = openLog();
  log.info('started', { port: 4780, text: 'two\nlines' });
  log.warn('odd');
  const [first, second] = lines();
  assert.match(String(first?.['time']), /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.deepEqual(
    { ...first, time: '' },
    { time: '', level: 'info', event: 'started', port: 4780, text: 'two\nlines' },
  );
  assert.deepEqual({ ...second, time: '' }, { time: '', level: 'warn', event: 'odd' });
});

test('what is below the level is not written', () => {
  const { log, lines } = openLog('warn');
  for (const write of [log.debug, log.info, log.warn, log.error]) write('event');
  assert.deepEqual(
    lines().map(({ level }) => level),
    ['warn', 'error'],
  );
});

test('errors are written with their causes', () => {
  const { log, lines } = openLog();
  log.error('failed', { error: new Error('outer', { cause: new TypeError('inner', { cause: { code: 7 } }) }) });
  const { error } = lines()[0] as { error: { message: string; stack: string; cause: Record<string, unknown> } };
  assert.equal(error.message, 'outer');
  assert.match(error.stack, /event-log\.test/);
  assert.equal(error.cause['name'], 'TypeError');
  assert.deepEqual(error.cause['cause'], { code: 7 });
});

test('nothing that is logged makes the log throw', () => {
  const { log, lines } = openLog();
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  const chicken = new Error('chicken');
  chicken.cause = new Error('egg', { cause: chicken });
  log.error('loop', { loop });
  log.error('causes', { error: chicken });
  log.error('number', { size: 10n });
  log.error('cause', { error: new Error('with loop', { cause: loop }) });
  const written = lines();
  assert.deepEqual(
    written.map(({ event }) => event),
    ['loop', 'causes', 'number', 'cause'],
  );
  assert.match(String(written[0]?.['unreadable']), /circular/);
  assert.equal(written[2]?.['size'], '10');
});

test('known secrets are taken out, wherever they stand', () => {
  requirement('AUD-4');
  const redactor = new Redactor(['hunter2-"quoted"']);
  const { log, lines } = openLog('debug', (text) => redactor.redactText(text));
  log.error('failed', { error: new Error('with hunter2-"quoted"'), nested: { list: ['hunter2-"quoted"'] } });
  const [line] = lines();
  assert.ok(!JSON.stringify(line).includes('hunter2'));
  assert.deepEqual(line?.['nested'], { list: ['[redacted]'] });
});

test('a file of its own is readable by its owner only, and is appended to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-log-'));
  const path = join(folder, 'daemon.log');
  for (const event of ['first', 'second']) {
    const log = EventLog.toFile(path, 'info', ownText);
    log.info(event);
    await log.close();
  }
  const events = readFileSync(path, 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    events.map((line) => (JSON.parse(line) as { event: string }).event),
    ['first', 'second'],
  );
  assert.equal(statSync(path).mode & 0o777, 0o600);
  rmSync(folder, { recursive: true });
});

test('a file that cannot be written ends neither the daemon nor its stopping', async () => {
  const log = EventLog.toFile('/nowhere/daemon.log', 'info', ownText);
  log.info('lost');
  await new Promise((resolve) => setImmediate(resolve));
  log.info('lost too');
  await log.close();
});
