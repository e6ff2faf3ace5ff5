import type { GetStatusResponse, InJson, TelemetryStatus } from '@sallyport/contract';
import type { Rules } from '../../call/verdict.ts';
import type { Turnstile } from '../../call/turnstile.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Store } from '../../storage/stores.ts';
import type { Home } from '../home/home.ts';
import { readInstallKind } from '../machine/install-kind.ts';
import { version } from '../version.ts';

export interface StatusParts {
  readonly home: Home;
  readonly store: Store;
  readonly rules: () => Rules;
  readonly registry: Registry;
  readonly turnstile: Turnstile;
  readonly workspace: string;
  readonly workspaceReason: string;
  /** All accepted roots, the workspace of the daemon first. */
  readonly roots: () => readonly string[];
  readonly address: () => string;
  /** What an operator should look at. */
  readonly warnings: () => readonly string[];
  readonly telemetry: () => InJson<TelemetryStatus>;
}

/** How the daemon is, as an operator asks it. */
export function statusReader(parts: StatusParts): () => Promise<InJson<GetStatusResponse>> {
  const { home, store, rules, registry, turnstile } = parts;
  const install = readInstallKind();
  return async () => ({
    version,
    pid: process.pid,
    uptimeMs: String(Math.round(performance.now())),
    mode: store.readMode(),
    profile: store.readOrganisation().settings.profile,
    install: install.kind,
    installMeaning: install.meaning,
    home: home.folder,
    workspace: parts.workspace,
    workspaceReason: parts.workspaceReason,
    workspaceRoots: [...parts.roots()],
    address: parts.address(),
    operatorSocket: home.operatorSocket,
    agentSocket: home.agentSocket,
    rulesHash: rules().hash,
    rulesFolder: rules().folder,
    ruleCount: rules().count,
    logSize: String(await store.logSize()),
    checkpointSize: String((await store.lastCheckpoint())?.size ?? 0),
    callsInFlight: turnstile.running,
    health: store.sealed() === undefined ? 'serving' : 'sealed',
    healthReason: store.sealed() ?? '',
    toolCount: registry.all.length,
    warnings: [...parts.warnings()],
    telemetry: parts.telemetry(),
    activeSessions: store.liveSessions().filter(({ status }) => status === 'active').length,
  });
}
