import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import type { RedactText } from '../../call/redacted.ts';
import type { Session } from '../../call/session.ts';
import type { AnyTool } from '../../call/tool.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** The settings in force, in groups. */
export interface ReadSettings {
  /** What every caller may know, for the session that asks. */
  readonly forEveryone: (session: Session) => Readonly<Record<string, JsonObject>>;
  /** Where things are, and what was set. */
  readonly forOperators: () => Readonly<Record<string, JsonObject>>;
}

export function configRead({ forEveryone, forOperators }: ReadSettings): AnyTool {
  return defineTool({
    name: 'config.read',
    aliases: ['read_config'],
    description:
      'Show the settings of the gate that are in force: version, mode, limits, and how long it waits for a person. Operators also read where its files are. Secrets are removed.',
    tags: ['self'],
    risk: 'low',
    timeoutMs: 5000,
    inputSchema: schema.object({}),
    outputSchema: schema.object({
      settings: {
        type: 'object',
        additionalProperties: { type: 'object' },
        description: 'The settings, in groups.',
      },
    }),
    preview: () => looksAt('Read the settings of the gate'),
    run: (_, { session, redact }) => {
      const settings = { ...forEveryone(session), ...(session.principal === 'operator' ? forOperators() : {}) };
      return { settings: redactAll(settings, redact) as JsonObject };
    },
    summarize: (_, { settings }) => Object.keys(settings).join(', '),
  });
}

function redactAll(value: Json, redact: RedactText): Json {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item: Json) => redactAll(item, redact));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, redactAll(member, redact)]));
}
