import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { load } from 'js-yaml';
import { noticeEvents, notificationKeys, readNotificationSettings, webhookKeys } from './notification-settings.ts';

const shipped = join(import.meta.dirname, '../../../../../config/governance');

function folderWith(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-notifications-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'notifications.yaml'), text);
  return folder;
}

test('without a file, and as shipped, nobody is told', () => {
  assert.deepEqual(readNotificationSettings('/nowhere'), { desktop: false });
  assert.deepEqual(readNotificationSettings(shipped), { desktop: false });
});

test('a file says whom to tell, and of what', (t) => {
  const folder = folderWith(
    t,
    `version: 1
console_url: https://gate.example.com/
desktop: true
webhook: { url: 'http://127.0.0.1:9/hook', secret: approvals, events: [pending, decided] }
`,
  );
  assert.deepEqual(readNotificationSettings(folder), {
    consoleUrl: 'https://gate.example.com',
    desktop: true,
    webhook: { url: 'http://127.0.0.1:9/hook', secret: 'approvals', events: ['pending', 'decided'] },
  });
  const brief = folderWith(t, 'version: 1\nwebhook: { url: "https://a.example", secret: s }\n');
  assert.deepEqual(readNotificationSettings(brief).webhook?.events, ['pending', 'reminder', 'abuse', 'anomaly']);
});

test('every mistake is told at once, with its place', (t) => {
  const folder = folderWith(
    t,
    `version: 2
desktop: sometimes
webhok: {}
webhook: { url: 'http://hooks.example.com', secret: '', events: [pendin] }
console_url: https://me:secret@gate.example.com
`,
  );
  assert.throws(
    () => readNotificationSettings(folder),
    (error: Error) => {
      for (const found of [
        'yaml:1:10  version',
        'yaml:2:10  desktop must be true or false',
        'did you mean webhook',
        'url must begin with https',
        'secret is empty',
        'did you mean pending',
        'must not hold a password',
      ]) {
        assert.ok(error.message.includes(found), `${found}: ${error.message}`);
      }
      return true;
    },
  );
});

test('the schema for editors accepts the shipped file and knows the same keys', () => {
  const schema = JSON.parse(readFileSync(join(shipped, 'schemas/notifications.schema.json'), 'utf8')) as {
    properties: { webhook: { properties: { events: { items: { enum: string[] } } } } };
  };
  const text = readFileSync(join(shipped, 'notifications.yaml'), 'utf8');
  assert.ok(text.startsWith('# yaml-language-server: $schema=./schemas/notifications.schema.json\n'));
  const validate = new Ajv2020({ strict: true, strictRequired: false }).compile(schema);
  assert.ok(validate(load(text)), JSON.stringify(validate.errors));
  assert.deepEqual(Object.keys(schema.properties), notificationKeys);
  assert.deepEqual(Object.keys(schema.properties.webhook.properties), webhookKeys);
  assert.deepEqual(schema.properties.webhook.properties.events.items.enum, noticeEvents);
});
