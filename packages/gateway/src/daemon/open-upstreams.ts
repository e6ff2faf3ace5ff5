import { canonicalJson } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { join } from 'node:path';
import { protectPaths } from '../governance/protected-paths.ts';
import type { GateFolders } from '../governance/protected-paths.ts';
import type { ProgramOpener } from '../model/program.ts';
import { ToolFailure } from '../model/tool.ts';
import type { Rules } from '../model/verdict.ts';
import { showHidden } from '../registry/hidden-text.ts';
import type { Registry } from '../registry/registry.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { Store } from '../storage/stores.ts';
import type { EventLog } from '../telemetry/event-log.ts';
import { openUpstreams as openFolder } from '../tools/upstreams/open-upstreams.ts';
import type { OpenedUpstreams } from '../tools/upstreams/open-upstreams.ts';
import { version } from './version.ts';

export interface UpstreamFolderParts {
  readonly folders: GateFolders;
  readonly store: Store;
  readonly registry: Registry;
  readonly programs: ProgramOpener;
  readonly secrets: Pick<SecretStore, 'secretsFor'>;
  readonly currentRules: () => Pick<Rules, 'acceptsNew'>;
  readonly log: EventLog;
}

/** The same request of the same server is on record once in so long. */
const recordEveryMs = 60_000;
const longestMethod = 100;

/** The upstream servers of this home. What they ask for and what becomes of their tools is on record. */
export function openUpstreams(parts: UpstreamFolderParts): OpenedUpstreams {
  const { folders, store, registry, programs, secrets, currentRules, log } = parts;
  const record = (payload: JsonObject): void => {
    const entry = { kind: 'event', result: 'none', timeMs: Date.now(), payload: canonicalJson(payload) } as const;
    store.append(entry).catch((error: unknown) => log.error('upstream_event_unrecorded', { error }));
  };
  const recordedAtMs = new Map<string, number>();
  return openFolder({
    registry,
    programs,
    version,
    folder: join(folders.home, 'upstreams'),
    protectedPaths: protectPaths(folders),
    pins: store,
    acceptsNew: (name, origin) => currentRules().acceptsNew(name, origin),
    readSecret: (name) => {
      const grant = { name, tools: ['*'], hosts: [] };
      const value = secrets.secretsFor([grant], { tool: 'upstream' }).get(name);
      if (value === undefined) throw new ToolFailure('EXECUTION_ERROR', `The secret ${name} is not set.`);
      return value;
    },
    recordEvent: ({ event, name, version: toolVersion, fileSha256, by }) =>
      record({ event, tool: name, version: toolVersion, file_sha256: fileSha256, ...(by === undefined ? {} : { by }) }),
    onRefusedRequest: (upstream, asked) => {
      const method = showHidden(asked).slice(0, longestMethod);
      const key = `${upstream} ${method}`;
      if (Date.now() - (recordedAtMs.get(key) ?? 0) < recordEveryMs) return;
      // A server that asks for ever new things is on record with the first of them.
      if (recordedAtMs.size > 1000) recordedAtMs.clear();
      recordedAtMs.set(key, Date.now());
      record({ event: 'upstream_request_refused', upstream, method });
    },
    onTrouble: (upstream, reason) => log.warn('upstream', { upstream, reason }),
    onError: (error) => log.error('upstreams_folder', { error }),
  });
}
