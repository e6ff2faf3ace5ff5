import { setImmediate } from 'node:timers/promises';
import { ClientService, isJsonObject, spellCount, textOf } from '@sallyport/contract';
import type { ClientPath, ClientUse, InJson, Json, JsonObject } from '@sallyport/contract';
import { decodeLeaf } from '@sallyport/log';
import { cutText } from '../call/redacted.ts';
import type { Redacted } from '../call/redacted.ts';
import type { AnyTool } from '../call/tool.ts';
import { defineOperatorTool } from '../registry/define-operator-tool.ts';
import * as schema from '../registry/schemas/schema.ts';
import type { Store } from '../storage/stores.ts';

export interface ClientToolParts {
  readonly store: Pick<Store, 'logSize' | 'readRecords'>;
  readonly redact: (text: string) => Redacted;
}

type Path = InJson<ClientPath>;
type Use = InJson<ClientUse>;

/** So far back the log is looked at. */
const mostRecords = 200_000;
const recordsAtOnce = 500;
/** So far back at least, for when a path was last used. */
const lookBackMs = 7 * 86_400_000;
const mostUses = 10_000;
const longestWhat = 200;
/** No rule opens it, so it is what probes ask for. */
const probedFile = '/keys/audit.key';

const texts = (...names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 4096 }]));
const objects = (maxItems: number, description: string, properties: JsonObject) =>
  schema.array(description, { type: 'object', properties, additionalProperties: false }, { maxItems });
const number: JsonObject = { type: ['string', 'number'] };

/** Which clients come through the gate, and what went around it. */
export function clientOperatorTools({ store, redact }: ClientToolParts): readonly AnyTool[] {
  const shorten = (text: string): string => cutText(redact(text), longestWhat);
  return [
    defineOperatorTool({
      name: 'clients.coverage',
      description:
        'Shows through which paths coding agents reach the gate, and compares their transcripts with the log.',
      mutates: false,
      properties: {
        paths: objects(100, 'What the settings of clients say.', {
          ...texts('client', 'path', 'state', 'version', 'fix'),
          last_seen_at_ms: number,
        }),
        uses: objects(mostUses, 'Uses of tools in transcripts.', {
          ...texts('client', 'session', 'use_id', 'tool', 'what', 'fix'),
          ...{ at_ms: number, blocked: { type: 'boolean' } },
        }),
      },
      // Transcripts hold whatever people and agents wrote; the log does not become a copy of them.
      secretArguments: ['uses'],
      answers: ClientService.method.showCoverage,
      run: async ({ paths = [], uses = [] }) => {
        const told = uses.map(readUse);
        const seen = await readSeen(store, Math.min(Date.now() - lookBackMs, ...told.map(({ atMs }) => Number(atMs))));
        const around = told.filter(({ client, useId }) => !seen.uses.has(keyOf(client, useId)));
        const newestFirst = around.sort((one, other) => Number(other.atMs) - Number(one.atMs));
        return {
          paths: listPaths(paths, seen.lastMs),
          around: newestFirst.map((use) => ({
            ...use,
            ...{
              what: shorten(use.what),
              tool: shorten(use.tool),
              session: shorten(use.session),
              useId: shorten(use.useId),
            },
          })),
          compared: told.length,
        };
      },
      summarize: (_args, { paths, around }) =>
        `${spellCount(paths.length, 'path')}, ${spellCount(around.length, 'use')} around the gate`,
    }),
  ];
}

interface Seen {
  /** By client and use. */
  readonly uses: ReadonlySet<string>;
  /** By client and path. */
  readonly lastMs: ReadonlyMap<string, number>;
}

/** What the log knows of clients, the newest first, down to a time. */
async function readSeen(store: ClientToolParts['store'], sinceMs: number): Promise<Seen> {
  const uses = new Set<string>();
  const lastMs = new Map<string, number>();
  const size = await store.logSize();
  const oldest = Math.max(0, size - mostRecords);
  for (let end = size; end > oldest; end -= recordsAtOnce) {
    const from = Math.max(oldest, end - recordsAtOnce);
    const records = await store.readRecords(from, end - from);
    for (const { leaf, payload = '' } of records) {
      // What `init` and `coverage` ask for themselves.
      if (payload.includes(probedFile)) continue;
      const { agent, request_id: request, ran_by: client } = readPayload(payload);
      if (typeof agent !== 'string' || typeof request !== 'string') continue;
      const { timeMs } = decodeLeaf(leaf);
      const path = keyOf(agent, typeof client === 'string' ? 'hooks' : 'mcp');
      lastMs.set(path, Math.max(lastMs.get(path) ?? 0, timeMs));
      if (typeof client === 'string') uses.add(keyOf(client, plainId(request)));
    }
    const [first] = records;
    // A clock may have been set back a little.
    if (first !== undefined && decodeLeaf(first.leaf).timeMs < sinceMs - 3_600_000 && uses.size > 0) break;
    await setImmediate();
  }
  return { uses, lastMs };
}

/** Uses that look the same are numbered by the door. */
function plainId(request: string): string {
  return request.replace(/^(use-[0-9a-f]{40})-\d+$/, '$1');
}

function listPaths(given: readonly JsonObject[], lastMs: ReadonlyMap<string, number>): Path[] {
  return given.map((path) => {
    const [client, name] = [textOf(path['client']), textOf(path['path'])];
    const seen = lastMs.get(keyOf(client, name));
    return {
      ...{
        client,
        path: name,
        state: textOf(path['state']),
        version: textOf(path['version']),
        fix: textOf(path['fix']),
      },
      ...(seen === undefined ? {} : { lastSeenAtMs: String(seen) }),
    };
  });
}

function readUse(use: JsonObject): Use {
  return {
    client: textOf(use['client']),
    session: textOf(use['session']),
    useId: textOf(use['use_id']),
    tool: textOf(use['tool']),
    what: textOf(use['what']),
    atMs: String(Number(use['at_ms'] ?? 0) || 0),
    blocked: use['blocked'] === true,
    fix: textOf(use['fix']),
  };
}

function readPayload(payload: string): JsonObject {
  const read = JSON.parse(payload || '{}') as Json;
  return isJsonObject(read) ? read : {};
}

function keyOf(one: string, other: string): string {
  return JSON.stringify([one, other]);
}
