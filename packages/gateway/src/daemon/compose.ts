import { randomUUIDv7 } from 'node:crypto';
import { reconcileIntents } from '../audit/reconcile.ts';
import { Redactor, secretsOfEnvironment } from '../audit/redact.ts';
import { AttemptCounter } from '../closers/attempt-counter.ts';
import { operatorService } from '../doors/operator-service.ts';
import type { Status } from '../doors/operator-service.ts';
import { openDoors } from '../doors/rpc/open-doors.ts';
import { toolService } from '../doors/tool-service.ts';
import { createToolContexts } from '../executors/tool-context.ts';
import { buildGateway } from '../gateway.ts';
import { loadRules } from '../governance/load-rules.ts';
import { LoopMemory } from '../governance/loop-memory.ts';
import { resolveWorkspace } from '../governance/resolve-workspace.ts';
import type { Begun } from '../model/call.ts';
import { KeyedLock } from '../pipeline/keyed-lock.ts';
import { Turnstile } from '../pipeline/turnstile.ts';
import { Registry } from '../registry/registry.ts';
import { openSqliteStore } from '../storage/sqlite/sqlite-store.ts';
import { EventLog } from '../telemetry/event-log.ts';
import { fileTools } from '../tools/files/index.ts';
import { sessionTools } from '../tools/sessions/sessions.ts';
import type { Config } from './config.ts';
import { openOperatorSession, openSigningKey } from './identity.ts';
import { readInstallKind } from './install-kind.ts';
import { watchSpace } from './space-gauge.ts';
import { version } from './version.ts';

const reserveBytes = 4 * 1024 * 1024;
const graceMs = 10_000;

/** A daemon that is serving. */
export interface Composed {
  readonly address: string;
  readonly readStatus: () => Status;
  readonly close: () => Promise<void>;
}

/** Picks the implementations and puts them together. The only place that does. `stop` is called on an operator's wish. */
export async function compose(config: Config, stop: () => void): Promise<Composed> {
  const { home } = config;
  const startedAtMs = Date.now();
  const { workspace, reason: workspaceReason = '' } = resolveWorkspace(config);
  const rules = loadRules({ ...config, folder: config.rulesFolder, home: home.folder, workspace });
  const redactor = new Redactor(secretsOfEnvironment(process.env));
  const log = EventLog.toFile(home.logFile, 'info', (text) => redactor.redactText(text));

  const { key: signingKey, origin } = openSigningKey(home);
  redactor.learn(signingKey);
  const { databaseFile, checkpointFile, reserveFile } = home;
  const store = await openSqliteStore({ databaseFile, signingKey, origin, checkpointFile, reserveFile, reserveBytes });
  const cutOff = await reconcileIntents(store, startedAtMs);
  redactor.learn(await openOperatorSession(home, store, workspace));
  store.onSealed((reason) => log.error('sealed', { reason }));

  const registry = new Registry();
  for (const tool of [...fileTools(), ...sessionTools(store, { workspace })]) registry.register(tool);

  const turnstile = new Turnstile(() => rules.limits);
  const attempts = new AttemptCounter(store);
  const gateway = buildGateway({
    store,
    registry,
    currentRules: () => rules,
    redactor,
    loops: new LoopMemory(),
    keys: new KeyedLock(),
    turnstile,
    space: watchSpace(home.folder),
    attempts,
    createContext: createToolContexts({ trashFolder: home.trashFolder }),
    log,
  });
  const clock = { nowMs: Date.now };
  const submit = (call: Omit<Begun, 'callId' | 'startedAtMs'>) =>
    gateway.run({ ...call, callId: randomUUIDv7(), startedAtMs: Date.now() }, clock);

  const install = readInstallKind();
  const readStatus = (): Status => ({
    version,
    pid: process.pid,
    uptimeMs: BigInt(Date.now() - startedAtMs),
    mode: store.readMode(),
    install: install.kind,
    installMeaning: install.meaning,
    home: home.folder,
    workspace,
    workspaceReason,
    address: doors.address,
    operatorSocket: home.operatorSocket,
    agentSocket: home.agentSocket,
    rulesHash: rules.hash,
    rulesFolder: rules.folder,
    ruleCount: rules.count,
    logSize: BigInt(store.logSize()),
    checkpointSize: BigInt(store.lastCheckpoint()?.size ?? 0),
    callsInFlight: turnstile.running,
    health: store.sealed() === undefined ? 'serving' : 'sealed',
    healthReason: store.sealed() ?? '',
    toolCount: registry.all.length,
    activeSessions: store.listSessions().filter(({ status }) => status === 'active').length,
  });

  const doors = await openDoors({
    services: [toolService({ store, registry, submit }), operatorService({ store, readStatus, stop })],
    tcp: { host: '127.0.0.1', port: config.port },
    operatorSocket: home.operatorSocket,
    agentSocket: home.agentSocket,
    health: () => {
      const reason = store.sealed();
      return reason === undefined ? { status: 'serving' } : { status: 'sealed', reason };
    },
    log: (event) => log.warn('transport', { ...event }),
  });

  const warmUp = new AbortController();
  void registry.warmUp(warmUp.signal);
  const flushing = setInterval(() => attempts.flush(Date.now()), 1000);
  flushing.unref();
  log.info('started', { version, address: doors.address, workspace, rules: rules.hash, cut_off_calls: cutOff });

  return {
    address: doors.address,
    readStatus,
    close: async () => {
      warmUp.abort();
      clearInterval(flushing);
      await doors.close(graceMs);
      attempts.flush(Number.MAX_SAFE_INTEGER);
      await store.close();
      log.info('stopped');
      await log.close();
    },
  };
}
