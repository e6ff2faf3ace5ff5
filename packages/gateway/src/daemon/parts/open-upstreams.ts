import { join } from 'node:path';
import { protectPaths } from '../../policy/judge/protected-paths.ts';
import type { GateFolders } from '../../policy/judge/protected-paths.ts';
import type { ProgramOpener } from '@sallyport/sandbox';
import { ToolFailure } from '../../call/tool.ts';
import type { Rules } from '../../call/verdict.ts';
import type { Registry } from '../../registry/registry.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { RedactedStream } from '../../redaction/redacted-stream.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { Store } from '../../storage/stores.ts';
import type { EventLog } from '../../telemetry/event-log.ts';
import { openUpstreams as openFolder } from '../../upstreams/tools/open-upstreams.ts';
import type { OpenedUpstreams } from '../../upstreams/tools/open-upstreams.ts';
import { openLoginStore } from './login-store.ts';
import { findOpenFolder, makeOpenFolder } from '../home/open-folder.ts';
import type { Leavings } from './open-leavings.ts';
import { networkRecorder } from './record-network.ts';
import { requestRecorder } from './record-requests.ts';
import { version } from '../version.ts';
import { recordToolEvents } from './record-tool-events.ts';

export interface UpstreamFolderParts {
  readonly folders: GateFolders;
  readonly store: Store;
  readonly registry: Registry;
  readonly programs: ProgramOpener;
  readonly secrets: SecretStore;
  /** Called with each value that must never appear in any text. */
  readonly learn: (secret: string) => void;
  readonly currentRules: () => Pick<Rules, 'acceptsNew' | 'judge'>;
  readonly redactor: Redactor;
  readonly log: EventLog;
  readonly leavings: Pick<Leavings, 'judge' | 'sweeps'>;
}

/** The upstream servers of this home. The log records what they ask for and what happens to their tools. */
export function openUpstreams(parts: UpstreamFolderParts): OpenedUpstreams {
  const { folders, store, registry, programs, secrets, learn, currentRules, redactor, log } = parts;
  const onError = (error: unknown): void => log.error('upstream_event_unrecorded', { error });
  const { record, recordEvent } = recordToolEvents({ store, redactor, onError });
  const open = makeOpenFolder(findOpenFolder(folders.home));
  return openFolder({
    registry,
    programs,
    version,
    folder: join(folders.home, 'upstreams'),
    packagesFolder: makeOpenFolder(join(open, 'packages')),
    protectedPaths: protectPaths(folders),
    pins: store,
    learn,
    redact: redactor.redactText,
    openRedaction: () => new RedactedStream(redactor),
    logins: openLoginStore(secrets, learn),
    acceptsNew: (name, origin) => currentRules().acceptsNew(name, origin),
    readSecret: (name) => {
      const grant = { name, tools: ['*'], hosts: [] };
      const value = secrets.secretsFor([grant], { tool: 'upstream' }).get(name);
      if (value === undefined) throw new ToolFailure('EXECUTION_ERROR', `The secret ${name} is not set.`);
      return value;
    },
    recordEvent,
    onRequest: requestRecorder(record, redactor.redactText),
    judgeRequest: (tool, args, resources) =>
      currentRules().judge({
        ...{ tool, resources, arguments: args, principal: 'agent', agent: '', mode: store.readMode() },
        nowMs: Date.now(),
      }),
    onTrouble: (upstream, reason) => log.warn('upstream', { upstream, reason }),
    leavings: () => {
      const caller = { principal: 'agent', agent: '', mode: store.readMode(), consented: false } as const;
      return parts.leavings.judge(caller);
    },
    sweeps: parts.leavings.sweeps,
    onWithheld: (upstream, { paths, count, stuck }) => {
      const what = { upstream, count, set_aside: [...paths], left: [...stuck] };
      record({ event: 'upstream_set_aside', ...what });
      log.warn('set_aside', what);
    },
    onNetwork: networkRecorder(record, redactor.redactText),
    onLoginLost: (upstream) => record({ event: 'upstream_login_lost', upstream }),
    onError: (error) => log.error('upstreams_folder', { error }),
  });
}
