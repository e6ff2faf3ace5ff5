import { join } from 'node:path';
import { readSourceFile } from '../../text/source-file.ts';
import { readYaml } from '../../text/read-yaml.ts';
import type { YamlNode } from '../../text/yaml-node.ts';
import { YamlReader } from '../../text/yaml-reader.ts';
import { ConfigError } from '../../call/fault.ts';
import { explainWebhookUrl } from './webhook-url.ts';

export const notificationKeys = ['version', 'console_url', 'webhook', 'desktop'] as const;
export const webhookKeys = ['url', 'secret', 'events'] as const;
export const noticeEvents = ['pending', 'reminder', 'decided', 'expired', 'abuse', 'anomaly'] as const;
export type NoticeEvent = (typeof noticeEvents)[number];

/** How people hear that something waits for them, besides the console. */
export interface NotificationSettings {
  /** Where links lead. Absent: to the daemon's own address. */
  readonly consoleUrl?: string;
  /** Absent: none is called. */
  readonly webhook?: WebhookSettings;
  readonly desktop: boolean;
}

export interface WebhookSettings {
  readonly url: string;
  /** Name of the stored secret that signs messages. */
  readonly secret: string;
  readonly events: readonly NoticeEvent[];
}

/** What counts without a file. */
export const noNotifications: NotificationSettings = { desktop: false };
const whenNeeded: readonly NoticeEvent[] = ['pending', 'reminder', 'abuse', 'anomaly'];

/**
 * Reads notifications.yaml. It is kept beside the rules but is not a rule file: whom to tell decides nothing, so a change
 * of it ends no approval. Throws one ConfigError that lists every problem.
 */
export function readNotificationSettings(folder: string): NotificationSettings {
  const yaml = readYaml(readSourceFile(join(folder, 'notifications.yaml')));
  const reader = new YamlReader(yaml);
  const settings = yaml.root === undefined ? noNotifications : readSettings(yaml.root, reader);
  const problems = [...yaml.problems, ...reader.problems];
  if (problems.length === 0) return settings;
  const lines = problems.map(({ file, line, column, message }) => `${file}:${line}:${column}  ${message}`);
  throw new ConfigError(['The notifications cannot be used.', ...lines].join('\n'), 'Correct the lines above.');
}

function readSettings(root: YamlNode, reader: YamlReader): NotificationSettings {
  const fields = reader.readFields(root, 'notifications.yaml', notificationKeys, []);
  if (fields === undefined) return noNotifications;
  if (fields.version !== undefined) reader.readInteger(fields.version, 'version', { min: 1, max: 1 });
  const consoleUrl = fields.console_url && readUrl(fields.console_url, 'console_url', reader);
  const webhook = fields.webhook && readWebhook(fields.webhook, reader);
  return {
    ...(consoleUrl === undefined ? {} : { consoleUrl }),
    ...(webhook === undefined ? {} : { webhook }),
    desktop: (fields.desktop && reader.readBoolean(fields.desktop, 'desktop')) ?? false,
  };
}

function readWebhook(node: YamlNode, reader: YamlReader): WebhookSettings | undefined {
  const fields = reader.readFields(node, 'webhook', webhookKeys, ['url', 'secret']);
  const url = fields?.url && readUrl(fields.url, 'url', reader);
  const secret = fields?.secret && reader.readString(fields.secret, 'secret', 128);
  const events =
    fields?.events === undefined
      ? whenNeeded
      : reader.readItems(fields.events, 'events', (item) => reader.readOneOf(item, 'an event', noticeEvents));
  return url === undefined || secret === undefined || events === undefined ? undefined : { url, secret, events };
}

function readUrl(node: YamlNode, what: string, reader: YamlReader): string | undefined {
  const text = reader.readString(node, what, 2000);
  if (text === undefined) return undefined;
  const problem = explainWebhookUrl(text);
  return problem === undefined ? text.replace(/\/$/, '') : reader.note(node, `${what} ${problem}`);
}
