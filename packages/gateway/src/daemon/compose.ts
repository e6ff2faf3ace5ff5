import { randomUUIDv7 } from 'node:crypto';
import { join } from 'node:path';
import { canonicalJson } from '@sallyport/contract';
import { reconcileIntents } from '../audit/reconcile.ts';
import { Redactor, secretsOfEnvironment } from '../audit/redact.ts';
import { ApprovalClock } from '../approvals/approval-clock.ts';
import { ApprovalWatch } from '../approvals/approval-watch.ts';
import { ConfirmTokens, createConfirmKey } from '../approvals/confirm-tokens.ts';
import { AttemptCounter } from '../closers/attempt-counter.ts';
import { callRoutes } from '../doors/http-calls/call-routes.ts';
import { ContentStore } from '../content/content-store.ts';
import { Transfers } from '../content/transfers.ts';
import type { DownloadStream, UploadStream } from '../content/transfers.ts';
import { contentService } from '../doors/content-service.ts';
import { leaseService } from '../doors/lease-service.ts';
import { operatorService } from '../doors/operator-service.ts';
import type { Status } from '../doors/operator-service.ts';
import { awaitDecision } from '../doors/await-decision.ts';
import type { Submission } from '../doors/await-decision.ts';
import { redactEnding } from '../doors/redact-ending.ts';
import { redactProgress } from '../doors/redact-progress.ts';
import { openDoors } from '../doors/rpc/open-doors.ts';
import { sessionService } from '../doors/session-service.ts';
import { toolProtocolService } from '../doors/typed/tool-protocol-service.ts';
import { toolService } from '../doors/tool-service.ts';
import { openContent } from '../executors/open-content.ts';
import { createToolContexts } from '../executors/tool-context.ts';
import { buildGateway } from '../gateway.ts';
import { loadRules } from '../governance/load-rules.ts';
import { LoopMemory } from '../governance/loop-memory.ts';
import { resolveWorkspace } from '../governance/resolve-workspace.ts';
import { KeyedLock } from '../pipeline/keyed-lock.ts';
import { Turnstile } from '../pipeline/turnstile.ts';
import { Registry } from '../registry/registry.ts';
import { createSecretsKey } from '../secrets/seal-secret.ts';
import { SecretStore } from '../secrets/secret-store.ts';
import { openSqliteStore } from '../storage/sqlite/sqlite-store.ts';
import { EventLog } from '../telemetry/event-log.ts';
import { artifactTools } from '../tools/artifacts/index.ts';
import { contentTools } from '../tools/content/index.ts';
import { fileTools } from '../tools/files/index.ts';
import { gitTools } from '../tools/git/index.ts';
import { leaseTools } from '../tools/leases/leases.ts';
import { peopleTools } from '../tools/people/people.ts';
import { secretTools } from '../tools/secrets/secrets.ts';
import { shellTools } from '../tools/shell/index.ts';
import { sessionTools } from '../tools/sessions/sessions.ts';
import type { Config } from './config.ts';
import { openExecutor } from './open-executor.ts';
import { findOpenFolder, makeOwnWorkspace } from './open-folder.ts';
import { openTools } from './open-tools.ts';
import { openOperatorSession, openSigningKey } from './identity.ts';
import { readOrCreateSecret } from './secret-files.ts';
import { statusReader } from './read-status.ts';
import { auditVerifier } from './verify-audit.ts';
import { watchSpace } from './space-gauge.ts';
import { version } from './version.ts';

const reserveBytes = 4 * 1024 * 1024;
const graceMs = 10_000;
const ignore = (): void => undefined;
const approvalLimits = { expireAfterMs: 300_000, remindAfterMs: 180_000, maxPending: 20 };
const neverAborts = new AbortController().signal;

/** A daemon that is serving. */
export interface Composed {
  readonly address: string;
  readonly readStatus: () => Status;
  readonly close: () => Promise<void>;
}

/** Picks the implementations and puts them together. The only place that does. `stop` is called on an operator's wish. */
export async function compose(config: Config, stop: () => void): Promise<Composed> {
  // What was opened is closed in reverse order: when the daemon stops, and when it does not even start.
  await using opened = new AsyncDisposableStack();
  const { home } = config;
  const startedAtMs = Date.now();
  const { startFolder, userHome, programFolder, rulesFolder } = config;
  const folders = { home: home.folder, userHome, programFolder, rulesFolder };
  const explicit = config.workspace === undefined ? {} : { explicit: config.workspace };
  const { workspace, reason: workspaceReason = '' } = resolveWorkspace({
    ...folders,
    ...explicit,
    startFolder,
    makeOwnWorkspace: () => makeOwnWorkspace(join(findOpenFolder(home.folder), 'workspace')),
  });
  const rules = loadRules({ ...folders, folder: rulesFolder, workspace });
  const redactor = new Redactor(secretsOfEnvironment(process.env));
  const log = EventLog.toFile(home.logFile, 'info', (text) => redactor.redactText(text));
  opened.defer(() => log.close());

  const { key: signingKey, origin } = openSigningKey(home);
  redactor.learn(signingKey);
  const { databaseFile, checkpointFile, reserveFile } = home;
  const store = await openSqliteStore({ databaseFile, signingKey, origin, checkpointFile, reserveFile, reserveBytes });
  opened.defer(() => store.close());
  const cutOff = await reconcileIntents(store, startedAtMs);
  redactor.learn(await openOperatorSession(home, store, workspace));
  store.onSealed((reason) => log.error('sealed', { reason }));

  const recordEvent = (event: string) =>
    store.append({
      kind: 'event',
      result: 'none',
      timeMs: Date.now(),
      rulesHash: rules.hash,
      payload: canonicalJson({ event, version, pid: process.pid, workspace, cut_off_calls: cutOff }),
    });

  // A sealed store cannot take the note, and has said so already.
  opened.defer(() => recordEvent('daemon_stopped').then(ignore, ignore));

  const secrets = SecretStore.open({
    index: store,
    key: readOrCreateSecret(home.secretsKeyFile, createSecretsKey),
    learn: (value) => redactor.learn(value),
  });
  const content = await ContentStore.open({ folder: home.contentFolder, index: store });
  const uploads = new Transfers<UploadStream>();
  const downloads = new Transfers<DownloadStream>();
  const registry = new Registry();
  const executor = openExecutor(log);
  opened.defer(() => executor.programs.close());
  const toolsFolder = await openTools({
    ...{ home, store, registry, log },
    programs: executor.programs,
    currentRules: () => rules,
  });
  opened.defer(() => toolsFolder.close());
  const tools = [
    ...fileTools(),
    ...shellTools(),
    ...gitTools(),
    ...toolsFolder.administration,
    ...contentTools({ store: content, index: store, uploads, downloads }),
    ...artifactTools({ store: content, index: store }),
    ...sessionTools(store, { workspace }),
    ...leaseTools(store),
    ...peopleTools(store, { workspace }),
    ...secretTools(secrets),
  ];
  for (const tool of tools) registry.register(tool);

  const approvalWatch = new ApprovalWatch();
  const approvalClock = new ApprovalClock({
    store,
    watch: approvalWatch,
    recordExpiry: async ({ id, callId, sessionId, tool, agent }) => {
      const payload = canonicalJson({ event: 'approval_expired', task: id, tool, agent });
      await store.append({ kind: 'event', result: 'denied', timeMs: Date.now(), callId, sessionId, payload });
    },
    onFault: (error) => log.error('approval_clock_failed', { error }),
  });
  opened.defer(() => approvalClock.close());
  const confirmKey = readOrCreateSecret(home.confirmKeyFile, createConfirmKey);
  redactor.learn(confirmKey);

  const turnstile = new Turnstile(() => rules.limits);
  const attempts = new AttemptCounter(store);
  opened.defer(() => attempts.flush(Number.MAX_SAFE_INTEGER));
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
    sandbox: executor.sandbox,
    approvals: {
      store,
      tokens: new ConfirmTokens(confirmKey),
      routeApproval: (_session, risk) => (risk === 'critical' ? 'director' : 'senior'),
      limits: () => approvalLimits,
      onPending: (task) => approvalWatch.tell({ kind: 'pending', task }),
    },
    results: { keep: (sessionId, bytes) => content.put({ sessionId, source: [bytes], signal: neverAborts }) },
    createContext: createToolContexts({
      trashFolder: home.trashFolder,
      programs: executor.programs,
      content: openContent(content, store),
      secrets,
    }),
    log,
  });
  const clock = { nowMs: Date.now };
  const submitOnce = async (call: Submission) => {
    const progress = call.onProgress && redactProgress(call.onProgress, redactor);
    const heard = progress === undefined ? {} : { onProgress: progress.tell };
    const begun = { ...call, ...heard, callId: randomUUIDv7(), startedAtMs: Date.now() };
    const ending = await gateway.run(begun, clock);
    progress?.end();
    return redactEnding(ending, redactor);
  };
  const submit = awaitDecision(submitOnce, { watch: approvalWatch, store });

  let address = '';
  const readStatus = statusReader({
    home,
    store,
    rules,
    registry,
    turnstile,
    startedAtMs,
    workspace,
    workspaceReason,
    address: () => address,
  });
  const doors = await openDoors({
    services: [
      toolService({ store, registry, submit }),
      toolProtocolService({ store, uploads, submit, onFault: (error) => log.error('typed_door_failed', { error }) }),
      contentService({ store, uploads, downloads, submit }),
      operatorService({ store, readStatus, verify: auditVerifier(home.folder), stop }),
      sessionService({ submit }),
      leaseService({ submit }),
    ],
    routes: callRoutes({ store, submit, maxArgumentBytes: () => rules.limits.maxArgumentBytes }),
    tcp: { host: '127.0.0.1', port: config.port },
    operatorSocket: home.operatorSocket,
    agentSocket: home.agentSocket,
    health: () => {
      const reason = store.sealed();
      return reason === undefined ? { status: 'serving' } : { status: 'sealed', reason };
    },
    log: (event) => log.warn('transport', { ...event }),
    redact: (text) => redactor.redactText(text),
  });

  opened.defer(() => doors.close(graceMs));
  address = doors.address ?? '';
  const warmUp = new AbortController();
  opened.defer(() => warmUp.abort());
  void registry.warmUp(warmUp.signal);
  const flushing = setInterval(() => attempts.flush(Date.now()), 1000).unref();
  opened.defer(() => clearInterval(flushing));
  await recordEvent('daemon_started');
  await approvalClock.start();
  // Looking at many new programs takes a while; they appear one look at a time, and nobody waits for them.
  void toolsFolder.start();
  log.info('started', { version, address, workspace, rules: rules.hash, cut_off_calls: cutOff });

  const closing = opened.move();
  return { address, readStatus, close: () => closing.disposeAsync() };
}
