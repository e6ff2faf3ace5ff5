import type { GetStatusResponse, InJson } from '@sallyport/contract';
import type { Turnstile } from '../../call/turnstile.ts';
import { readInstallKind } from '../machine/install-kind.ts';
import type { DaemonParts } from '../parts/daemon-parts.ts';
import { version } from '../version.ts';

export type StatusParts = Pick<
  DaemonParts,
  | 'home'
  | 'store'
  | 'currentRules'
  | 'registry'
  | 'workspace'
  | 'workspaceReason'
  | 'workspaces'
  | 'address'
  | 'warnings'
  | 'telemetry'
>;

/** All that can wait, in practice. */
const mostPending = 20_000;

/** How the daemon is, as an operator asks it. */
export function statusReader(parts: StatusParts, calls: Turnstile): () => Promise<InJson<GetStatusResponse>> {
  const { home, store, currentRules: rules, registry } = parts;
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
    workspaceRoots: [...parts.workspaces.roots],
    address: parts.address(),
    operatorSocket: home.operatorSocket,
    agentSocket: home.agentSocket,
    rulesHash: rules().hash,
    rulesFolder: rules().folder,
    ruleCount: rules().count,
    logSize: String(await store.logSize()),
    checkpointSize: String((await store.lastCheckpoint())?.size ?? 0),
    callsInFlight: calls.running,
    health: store.sealed() === undefined ? 'serving' : 'sealed',
    healthReason: store.sealed() ?? '',
    toolCount: registry.all.length,
    warnings: [...parts.warnings()],
    telemetry: parts.telemetry.read(),
    pendingApprovals: await store.countAllPending(mostPending),
    activeSessions: store.liveSessions().filter(({ status }) => status === 'active').length,
  });
}
