import { CallService, ClientService, LeaseService, SessionService } from '@sallyport/contract';
import { join } from 'node:path';
import { setTimeout as setTimeoutAfter } from 'node:timers/promises';
import { reconcileIntents } from '../audit/reconcile.ts';
import { Redactor, secretsOfEnvironment } from '../redaction/redact.ts';
import { isWithin } from '@sallyport/sandbox';
import { AttemptCounter } from '../audit/attempt-counter.ts';
import { ClientRuns } from '../clients/client-runs.ts';
import { clientTools } from '../clients/client-tools.ts';
import { metricsRoutes } from '../doors/metrics/serve.ts';
import { hookRoutes } from '../doors/hooks/serve.ts';
import { joinWords } from '../policy/patterns/shell-words.ts';
import { callRoutes } from '../doors/http/serve.ts';
import { openCallers } from '../doors/http/json-requests.ts';
import { ContentStore } from '../content/content-store.ts';
import { Transfers } from '../content/transfers.ts';
import type { DownloadStream, UploadStream } from '../content/transfers.ts';
import { anomalyService } from '../anomalies/service.ts';
import { approvalService } from '../approvals/service.ts';
import { readConsole } from '../doors/console/console-files.ts';
import { loginRoutes } from '../doors/console/login-routes.ts';
import { pageRoutes } from '../doors/console/page-routes.ts';
import { bindTools } from '../doors/bind-tools.ts';
import { contentService } from '../content/service.ts';
import { operatorService } from '../doors/connect/operator-service.ts';
import { planService } from '../approvals/plan-service.ts';
import { openMcp } from '../doors/mcp/serve.ts';
import { openDoors } from '../doors/transport/open-doors.ts';
import { toolProtocolService } from '../doors/typed/serve.ts';
import { messageRoutes } from '../doors/messages/serve.ts';
import { toolService } from '../doors/connect/serve.ts';
import { finishSweeps } from '../programs/leavings/finish-sweeps.ts';
import { Sweeps } from '../programs/leavings/sweeps.ts';
import { CallNetworks } from '../execution/call-networks.ts';
import { openContent } from '../execution/open-content.ts';
import { createToolContexts } from '../execution/tool-context.ts';
import { buildGateway, buildRehearsal } from '../gateway.ts';
import { AppliedRules } from '../policy/files/applied-rules.ts';
import { SessionHistory } from '../policy/judge/session-history.ts';
import { judgeLeavings } from '../policy/judge/leavings.ts';
import { LoopMemory } from '../policy/judge/loop-memory.ts';
import { resolveWorkspace } from '../policy/judge/resolve-workspace.ts';
import type { SweepCaller } from '../call/sweep.ts';
import { KeyedLock } from '../call/keyed-lock.ts';
import { Turnstile } from '../call/turnstile.ts';
import { Registry } from '../registry/registry.ts';
import { ShownDefinitions } from '../registry/shown-definitions.ts';
import { createSecretsKey } from '../secrets/seal-secret.ts';
import { SecretStore } from '../secrets/secret-store.ts';
import { ToolVisibility } from '../sessions/tool-visibility.ts';
import { BackgroundIndex } from '../storage/sqlite/index/background-index.ts';
import { openSqliteStore } from '../storage/sqlite/sqlite-store.ts';
import { EventLog } from '../telemetry/event-log.ts';
import { UsageTally } from '../telemetry/usage-tally.ts';
import { hideInResults } from '../redaction/hide-in-results.ts';
import { callTools } from '../calls/tools.ts';
import { clientOperatorTools } from '../clients/tools.ts';
import { collectTrash } from '../undo/collect-trash.ts';
import { describeCutOff, findCutOffUndos } from '../undo/cut-off-undos.ts';
import { gitUndo } from '../undo/tools/git-undo.ts';
import { undoTools } from '../undo/tools/index.ts';
import { whyTool } from '../undo/tools/why/why-tool.ts';
import { artifactTools } from '../artifacts/tools.ts';
import { consoleLink } from '../console/console-link.ts';
import { LoginCodes } from '../console/login-codes.ts';
import { contentTools } from '../content/tools/index.ts';
import { filesWrite } from '../catalogue/files/files-write.ts';
import { desktopTools } from '../catalogue/desktop/index.ts';
import { fileTools } from '../catalogue/files/index.ts';
import { codeTools } from '../catalogue/code/index.ts';
import { databaseTools } from '../catalogue/data/index.ts';
import { Databases } from '../catalogue/data/databases.ts';
import { gitTools } from '../catalogue/git/index.ts';
import { selfTools } from '../catalogue/self/index.ts';
import { systemTools } from '../catalogue/system/index.ts';
import { inferenceTools } from '../catalogue/inference/index.ts';
import { webTools } from '../catalogue/web/index.ts';
import { leaseTools } from '../sessions/tools/leases.ts';
import { peopleTools } from '../organisation/tools/people.ts';
import { policyTools } from '../policy/tools/policy-tools.ts';
import { secretTools } from '../secrets/tools.ts';
import { shellTools } from '../catalogue/shell/index.ts';
import { sessionTools } from '../sessions/tools/sessions.ts';
import type { Config } from './config.ts';
import { connectionsWithin, readDescriptorLimit } from './machine/descriptor-limit.ts';
import { openAnomalies } from './parts/open-anomalies.ts';
import { callbackSecret, openApprovals } from './parts/open-approvals.ts';
import { openErasures } from './parts/open-erasures.ts';
import { openModes } from './parts/open-modes.ts';
import { openOrganisation } from './parts/open-organisation.ts';
import { readPastCalls } from './parts/read-past-calls.ts';
import { describeMachineTrouble } from './machine/describe-abilities.ts';
import { openExecutor } from './parts/open-executor.ts';
import { findOpenFolder, makeOwnWorkspace } from './home/open-folder.ts';
import { secretsOfLogin } from './parts/login-store.ts';
import { openTelemetry } from './health/open-telemetry.ts';
import { openTools } from './parts/open-tools.ts';
import { openProviders } from './parts/open-providers.ts';
import { openUpstreams } from './parts/open-upstreams.ts';
import { StartingTools } from './parts/starting-tools.ts';
import { openOperatorSession, openSigningKey } from './home/identity.ts';
import { describeNewerProgram } from './machine/newer-program.ts';
import { noteRestored } from './backup/note-restored.ts';
import { readOrCreateSecret } from './home/secret-files.ts';
import { metricsReader } from './health/read-metrics.ts';
import { statusReader } from './health/read-status.ts';
import { receiptMaker } from './kept-log/receipt-maker.ts';
import { describeSelf } from './health/describe-self.ts';
import { openSubmit } from './submit.ts';
import { auditVerifier } from './kept-log/verify-audit.ts';
import { watchSpace } from './machine/space-gauge.ts';
import { openStateKey } from './home/state-key.ts';
import { version } from './version.ts';
import type { Session } from '../call/session.ts';
import { loneWorkspace } from '../call/workspace.ts';
import type { LoadedRules } from '../policy/language/load-rules.ts';
import { resolveLinks } from '../policy/patterns/canonical-path.ts';
import { usableFolder, workspaceTools } from '../workspaces/tools.ts';
import { describeRootTrouble, describeStranded, WorkspaceBook } from '../workspaces/workspace-book.ts';

const reserveBytes = 4 * 1024 * 1024;
const graceMs = 10_000;
const finishMs = 1000;
const firstLookMs = 2000;
const warmUpAfterMs = 3000;
const collectEveryMs = 6 * 3_600_000;
const ignore = (): void => undefined;
const neverAborts = new AbortController().signal;

/** `reason`: why it is sealed, or was. */
export type WatchHealth = (listener: (health: 'sealed' | 'serving', reason: string) => void) => void;

/** A daemon that is serving. */
export interface Composed {
  readonly address: string;
  readonly readStatus: ReturnType<typeof statusReader>;
  /** What of programs does not work here. It waits for the executor service. */
  readonly readMachine: () => Promise<readonly string[]>;
  readonly watchHealth: WatchHealth;
  readonly callsInFlight: () => number;
  /** Ends the calls that run, answers them, and closes everything. `by`: who wants it, for the record. */
  readonly close: (by: string) => Promise<void>;
}

/** Picks the implementations and puts them together. The only place that does. `stop` is called on an operator's wish. */
export async function compose(config: Config, stop: (by: string) => void): Promise<Composed> {
  let stoppedBy = 'sallyport';
  // What was opened is closed in reverse order: when the daemon stops, and when it does not even start.
  await using opened = new AsyncDisposableStack();
  const { home } = config;
  const { startFolder, userHome, programFolder, rulesFolder } = config;
  const folders = { home: home.folder, userHome, programFolder, rulesFolder };
  const findFolder = (): string => config.rulesFolder;
  const explicit = config.workspace === undefined ? {} : { explicit: config.workspace };
  const { workspace, reason: workspaceReason = '' } = resolveWorkspace({
    ...folders,
    ...explicit,
    startFolder,
    makeOwnWorkspace: () => makeOwnWorkspace(join(findOpenFolder(home.folder), 'workspace')),
  });
  const redactor = new Redactor(secretsOfEnvironment(process.env));
  const log = EventLog.toFile(home.logFile, 'info', redactor.redactText);
  opened.defer(() => log.close());
  const telemetry = await openTelemetry(config, redactor);
  opened.defer(() => telemetry.close());

  const { key: signingKey, origin, seed } = openSigningKey(home);
  redactor.learn(seed, 'audit key of the gate');
  const stateKey = openStateKey(home);
  redactor.learn(stateKey.key, 'state key of the gate');
  const { databaseFile, checkpointFile, reserveFile, archiveFolder } = home;
  // Its thread starts while the rules are read.
  const opening = openSqliteStore({
    ...{ databaseFile, signingKey, origin, checkpointFile, reserveFile, reserveBytes, archiveFolder },
    stateKey: stateKey.key,
    adoptState: stateKey.isNew,
  });
  opened.defer(() => opening.then((each) => each.close(), ignore));
  const applied = new AppliedRules({ ...folders, findFolder, workspace }, home.appliedRulesFile, {
    secret: stateKey.key,
    isNew: stateKey.isNew,
  });
  const currentRules = () => applied.current;
  const store = await opening;
  const index = new BackgroundIndex({ databaseFile, indexFile: home.indexFile, archiveFolder }, (error) => {
    log.error('index_failed', { error });
  });
  opened.defer(() => index.close());
  const workspaces = new WorkspaceBook({ index: store, own: workspace, userHome: resolveLinks(userHome) });
  const rulesFor = (session: Pick<Session, 'workspace'>): LoadedRules | undefined => {
    const where = workspaces.of(session);
    return where === undefined ? undefined : applied.current.within(where);
  };
  const knownSequence = await store.readRulesSequence();
  applied.checkNewest(knownSequence);
  if (applied.sequence !== knownSequence) await store.noteRulesSequence(applied.sequence);
  stateKey.keep();
  const cutOff = await reconcileIntents(store, Date.now());
  const cutOffUndos = await findCutOffUndos(cutOff, store);
  const operatorToken = await openOperatorSession(home, store, workspace);
  redactor.learn(operatorToken, 'operator credential');
  store.onSealed((reason) => log.error('sealed', { reason }));
  store.onHealed((reason) => {
    log.warn('unsealed', { reason });
    void recordEvent('daemon_unsealed', { reason }).then(ignore, ignore);
  });

  const recordEvent = (event: string, more: { readonly reason?: string; readonly by?: string } = {}) =>
    store.append({
      kind: 'event',
      result: 'none',
      timeMs: Date.now(),
      rulesHash: currentRules().hash,
      payload: redactor.redactEvent({
        event,
        version,
        pid: process.pid,
        workspace,
        cut_off_calls: cutOff.length,
        ...more,
      }),
    });

  // Before anybody can call.
  await noteRestored(home, { store, operatorToken, recordEvent });
  // A sealed store cannot take the note, and has said so already.
  opened.defer(() => recordEvent('daemon_stopped', { by: stoppedBy }).then(ignore, ignore));

  const learnForeign = (secret: string): void => redactor.learn(secret, undefined, { isForeign: true });
  const secrets = await SecretStore.open({
    index: store,
    key: readOrCreateSecret(home.secretsKeyFile, createSecretsKey),
    learn: (value, name) => {
      const foreign = secretsOfLogin(name, value);
      if (foreign === undefined) redactor.learn(value, name);
      else foreign.forEach(learnForeign);
    },
  });
  const readSecret = (name: string): string => {
    const grant = { name, tools: ['*'], hosts: [] };
    return secrets.secretsFor([grant], { tool: 'gate' }).get(name) ?? '';
  };
  const content = await ContentStore.open({ folder: home.contentFolder, index: store });
  const uploads = new Transfers<UploadStream>();
  const downloads = new Transfers<DownloadStream>();
  const registry = new Registry();
  const sweeps = new Sweeps({ folder: home.sweepsFolder, key: stateKey.key });
  const judgeLeft = ({ ...caller }: SweepCaller) => {
    // Programs may have worked in a folder that has been removed since.
    const rules = rulesFor(caller) ?? currentRules().within(loneWorkspace(caller.workspace ?? workspace));
    const write = rules.judgePaths({ ...caller, tool: filesWrite.definition, consented: false });
    return judgeLeavings({ write, caller });
  };
  const executor = openExecutor(log);
  opened.defer(() => executor.programs.close());
  const toolsFolder = await openTools({
    ...{ home, store, registry, redactor, log },
    folder: config.toolsFolder,
    programs: executor.programs,
    currentRules,
    submitStep: (step) => submitStep(step),
  });
  opened.defer(() => toolsFolder.close());
  const upstreams = openUpstreams({
    ...{ folders, store, registry, secrets, redactor, log },
    learn: learnForeign,
    judgeLeavings: judgeLeft,
    sweeps,
    programs: executor.programs,
    currentRules,
  });
  opened.defer(() => upstreams.close());
  // What waits for a call was started under what held before.
  const dropWaiting = (): void => void executor.programs.dropWarm();
  opened.defer(registry.onChange(dropWaiting));
  const modes = openModes({
    ...{ home, store, currentRules, log },
    isTroubled: () => anomalies.holdsMode(),
    onChanged: dropWaiting,
  });
  const { running } = modes.forGateway;
  const endSession = async (id: string, by: string): Promise<boolean> => {
    const isEnded = await store.endSession(id);
    running.endSession(id, by);
    await approvals.onSessionEnded(id);
    return isEnded;
  };
  opened.defer(() => modes.close());
  const organisation = openOrganisation({
    ...{ store, currentRules, redactor, log, endSession },
    notifySenior: (abuse, senior) => approvals.tellAbuse(abuse, senior),
  });
  const approvals = openApprovals({
    ...{ home, store, redactor, log, findFolder, secrets },
    currentRules,
    rulesFor,
    offices: organisation.offices,
    rehearse: (...planned) => rehearse(...planned),
    address: () => address,
  });
  opened.defer(() => approvals.close());
  const anomalies = openAnomalies({
    ...{ store, currentRules, registry, redactor, log },
    authority: modes.authority,
    offices: organisation.offices,
    notify: approvals.tellAnomaly,
  });
  opened.defer(() => anomalies.close());
  const erasures = openErasures({
    ...{ home, store, registry, content, log, index, currentRules },
    isDirector: (person) => organisation.offices.isDirector(person),
  });
  opened.defer(() => erasures.close());
  const onRulesApplied = async (): Promise<void> => {
    erasures.wake();
    await approvals.onRulesApplied();
    // A copy that is one ahead of this is what a crash leaves, and good.
    await store.noteRulesSequence(applied.sequence).catch(ignore);
    await executor.programs.dropWarm();
    await toolsFolder.installed.refresh();
  };
  const codes = new LoginCodes();
  const remote = openProviders({ findFolder, secrets, redactor, store, isTraced: telemetry.isTraced });
  const warnings = (): readonly string[] => [
    ...[describeNewerProgram()].filter((warning) => warning !== undefined),
    ...describeMachineTrouble(executor.abilities(), workspace),
    ...approvals.warnings(),
    ...telemetry.warnings(),
    ...cutOffUndos.map(describeCutOff),
    ...(remote.providers.problem === undefined ? [] : [remote.providers.problem]),
    ...describeRootTrouble(workspaces.inspect()),
    ...describeStranded(workspaces, store.liveSessions()),
  ];
  const tools = [
    ...approvals.tools,
    ...policyTools({
      ...{ rules: applied, registry, store, index, workspace, workspaceOf: workspaces.of },
      onApplied: () => void onRulesApplied(),
    }),
    ...fileTools(),
    ...shellTools(),
    ...gitTools(),
    ...systemTools(),
    ...webTools(remote),
    ...inferenceTools(remote),
    ...codeTools(),
    ...selfTools(
      describeSelf({ config, store, executor, workspace, rules: currentRules, address: () => address, warnings }),
    ),
    ...databaseTools({ databases: new Databases({ file: home.databasesFile, workspace }), readSecret }),
    ...desktopTools(process.env),
    // Their results are full of what others wrote, and a person who accepts it has to see all but what the gate holds.
    ...[...toolsFolder.administration, ...upstreams.administration].map((tool) =>
      hideInResults(tool, redactor.hideHeldIn),
    ),
    ...contentTools({ store: content, index: store, uploads, downloads }),
    ...artifactTools({ store: content, index: store }),
    ...sessionTools(store, {
      places: {
        own: workspace,
        findRoot: (folder) => workspaces.findRoot(folder),
        resolve: (folder) => usableFolder(folder, folders),
      },
      endSession,
      callbackSecret: (id) => callbackSecret(secrets, id),
    }),
    ...workspaceTools({
      ...{ book: workspaces, store, folders, endSession },
      onChanged: () => {
        approvals.onRulesApplied().catch((error: unknown) => log.error('approvals_not_told', { error }));
        dropWaiting();
      },
    }),
    ...leaseTools(store),
    ...peopleTools(store, { workspace, endSession, address: () => address }),
    ...callTools(running),
    whyTool({ journal: store, records: store }),
    ...clientOperatorTools({ store, redact: redactor.redactText }),
    ...undoTools({
      journal: store,
      sessions: store,
      // In every mode: what was changed before it came must be put back in it. The operator who undoes has agreed.
      writingIn: (session, operator, gitOperation) =>
        rulesFor(session)?.judgePaths({
          ...{ principal: 'operator', agent: operator, mode: 'NORMAL', consented: true, nowMs: Date.now() },
          ...(gitOperation === undefined
            ? { tool: filesWrite.definition }
            : { tool: gitUndo(store).definition, resources: { paths: [], gitOperation } }),
        }),
      isRunning: (callId) => running.list().some((call) => call.callId === callId),
    }),
    ...modes.tools,
    ...anomalies.tools,
    ...organisation.tools,
    ...erasures.tools,
    ...secretTools(secrets),
    consoleLink({ codes, address: () => address }),
  ];
  registry.register(...tools);
  registry.registerForClients(...clientTools());

  const turnstile = new Turnstile(modes.turnLimits);
  const transfers = new Turnstile(modes.turnLimits);
  const measured = metricsReader({ home, store, calls: turnstile, transfers, telemetry });
  opened.defer(() => measured.close());
  const attempts = new AttemptCounter(store);
  opened.defer(() => attempts.flush(Number.MAX_SAFE_INTEGER));
  const networks = new CallNetworks();
  const starting = new StartingTools({ pins: store, findUpstream: (name) => upstreams.upstreams.find(name) });
  const createContext = createToolContexts({
    trashFolder: home.trashFolder,
    journal: store,
    programs: executor.programs,
    areLimitsWatched: () => executor.sandbox.explainWatched() !== undefined,
    writeTool: filesWrite.definition,
    sweeps,
    networks,
    redact: redactor.redactText,
    traceparentOf: telemetry.traceparentOf,
    content: openContent(content, store),
    secrets,
  });
  const gateway = buildGateway({
    store,
    registry,
    isStarting: starting.isStarting,
    currentRules,
    rulesFor,
    redactor,
    loops: new LoopMemory(),
    history: new SessionHistory(readPastCalls(store)),
    keys: new KeyedLock(),
    turnstiles: { calls: turnstile, transfers },
    space: watchSpace(home.folder),
    attempts,
    ...modes.forGateway,
    abuse: organisation.abuse,
    anomalies: anomalies.forGateway,
    sandbox: executor.sandbox,
    approvals: approvals.forGateway,
    results: { keep: (sessionId, bytes) => content.put({ sessionId, source: [bytes], signal: neverAborts }) },
    resultSeal: secrets.resultSeal(),
    createContext,
    networks,
    log,
    events: telemetry.events,
    metrics: telemetry.metrics,
    tracer: telemetry.tracer,
  });
  const rehearsal = buildRehearsal(gateway, createContext);
  const { submit, submitStep, rehearse } = openSubmit({
    ...{ gateway, rehearsal, redactor, store, running },
    watch: approvals.watch,
  });

  let address = '';
  const readStatus = statusReader({
    home,
    store,
    rules: currentRules,
    registry,
    turnstile,
    workspace,
    workspaceReason,
    address: () => address,
    warnings,
    telemetry: telemetry.read,
    roots: () => workspaces.roots,
  });
  const definitions = new ShownDefinitions(redactor);
  const visibility = new ToolVisibility({ store, rulesFor, modes: modes.forGateway.modes });
  const mcp = openMcp({
    ...{ store, registry, visibility, definitions, submit, downloads, redactor, version },
    maxArgumentBytes: () => currentRules().limits.maxArgumentBytes,
    workspaceOf: workspaces.of,
    linkToTask: approvals.linkToTask,
    onError: (error) => log.debug('mcp', { error }),
    onFault: (error) => log.error('mcp_door_failed', { error }),
  });
  const maxArgumentBytes = (): number => currentRules().limits.maxArgumentBytes;
  const doors = await openDoors({
    services: [
      toolService({
        ...{ store, registry, visibility, definitions, submit, linkToTask: approvals.linkToTask },
        redact: redactor.redactText,
        onFault: (error) => log.error('tool_door_failed', { error }),
      }),
      toolProtocolService({
        ...{ store, uploads, submit },
        redact: redactor.redactText,
        onFault: (error) => log.error('typed_door_failed', { error }),
      }),
      contentService({ store, uploads, downloads, submit }),
      operatorService({
        store,
        hideHeldInJson: redactor.hideHeldInJson,
        readStatus,
        verify: auditVerifier(config),
        makeReceipt: receiptMaker(home, () => redactor.hideHeldInJson),
        index,
        usage: new UsageTally(store),
        stop,
        isStopping: () => running.isStopping,
      }),
      ...[CallService, ClientService, SessionService, LeaseService].map((service) => {
        return bindTools(service, ['operator-socket'], { store, submit, tools });
      }),
      approvalService({ ...approvals, anomalyNews: anomalies.news, store, submit, tools }),
      anomalyService({ anomalyNews: anomalies.news, store, submit, tools }),
      planService({ ...approvals, store, submit, tools }),
    ],
    routes: [
      ...callRoutes({ store, submit, maxArgumentBytes }),
      ...hookRoutes({
        store,
        submit,
        maxArgumentBytes,
        runs: new ClientRuns(),
        // By absolute paths: what is called sallyport on the PATH of a client may be anything.
        execCommand: (ticket) => {
          const isOwn = isWithin(home.folder, home.agentSocket);
          const command = joinWords([process.execPath, config.program, 'exec', ticket]);
          return isOwn ? `SALLYPORT_HOME=${joinWords([home.folder])} ${command}` : command;
        },
        onFault: (error) => log.error('hook_door_failed', { error }),
      }),
      ...messageRoutes({ store, submit, redact: redactor.redactText, maxArgumentBytes, plans: approvals.plans }),
      ...mcp.routes,
      ...metricsRoutes({ store, token: telemetry.metricsToken, readMetrics: measured.read }),
      ...pageRoutes(readConsole(config.consoleFolders)),
      ...loginRoutes({ codes, store, attempts, learn: (token) => redactor.learn(token, 'token of a console') }),
    ],
    tcp: { host: '127.0.0.1', port: config.port },
    callers: openCallers({ store, submit }),
    limits: { maxConnections: connectionsWithin(readDescriptorLimit()) },
    operatorSocket: home.operatorSocket,
    agentSocket: home.agentSocket,
    ...(config.agentGroup === undefined ? {} : { agentGroup: config.agentGroup }),
    health: () => {
      const reason = store.sealed();
      return reason === undefined ? { status: 'serving' } : { status: 'sealed', reason };
    },
    log: (event) => log.warn('transport', { ...event }),
    redact: redactor.redactText,
  });

  opened.defer(() => doors.close(graceMs));
  opened.defer(() => mcp.close());
  // Before the doors close, so that every caller gets an answer.
  opened.defer(() => running.stop(stoppedBy, { finishMs, endMs: graceMs }));
  address = doors.address ?? '';
  const warmUp = new AbortController();
  opened.defer(() => warmUp.abort());
  // Compiling every schema takes half a second of a core, which the first calls need more.
  const warming = setTimeout(() => void registry.warmUp(warmUp.signal), warmUpAfterMs).unref();
  opened.defer(() => clearTimeout(warming));
  // Reading all of a long log takes a while; what was written last was looked at already.
  const verifying = setTimeout(() => store.verifyInBackground(), warmUpAfterMs).unref();
  opened.defer(() => clearTimeout(verifying));
  const collect = (): void => {
    const parts = { journal: store, trashFolder: home.trashFolder, keepMs: currentRules().limits.undoForMs };
    collectTrash(parts, Date.now()).then(
      (removed) => removed > 0 && log.info('trash_collected', { removed }),
      (error: unknown) => log.error('trash_not_collected', { error }),
    );
  };
  const collecting = [setTimeout(collect, warmUpAfterMs).unref(), setInterval(collect, collectEveryMs).unref()];
  opened.defer(() => {
    for (const timer of collecting) clearTimeout(timer);
  });
  const flushing = setInterval(() => attempts.flush(Date.now()), 1000).unref();
  opened.defer(() => clearInterval(flushing));
  if (applied.wasFresh && knownSequence > 0) await recordEvent('rules_taken_over', { reason: 'the copy was removed' });
  await finishSweeps(sweeps, {
    judge: judgeLeft,
    // It ends what programs of a daemon before this one are still there.
    ready: () => executor.programs.abilities,
    report: (event, facts) => {
      log.warn(event, facts);
      const payload = redactor.redactEvent({ event, ...facts });
      return store.append({ kind: 'event', result: 'none', timeMs: Date.now(), payload });
    },
    onError: (error) => log.error('sweep_failed', { error }),
  });
  for (const { callId, changes } of cutOffUndos) {
    log.warn('undo_cut_off', { call: callId, changes });
    const payload = redactor.redactEvent({ event: 'undo_cut_off', call: callId, changes });
    await store.append({ kind: 'event', result: 'unknown', timeMs: Date.now(), payload });
  }
  await recordEvent('daemon_started');
  await approvals.start();
  await anomalies.start();
  modes.start();
  erasures.wake();
  // Ready means that accepted tools are there. Looking at many new programs takes longer, and nobody waits for that.
  const looked = Promise.all([toolsFolder.start(), upstreams.start()]).then(() => starting.looked());
  await Promise.race([looked, setTimeoutAfter(firstLookMs, undefined, { ref: false })]);
  log.info('started', { version, address, workspace, rules: currentRules().hash, cut_off_calls: cutOff.length });

  const closing = opened.move();
  const close = (by: string): Promise<void> => {
    stoppedBy = by;
    return closing.disposeAsync();
  };
  const watchHealth: WatchHealth = (listener) => {
    store.onSealed((reason) => listener('sealed', reason));
    store.onHealed((reason) => listener('serving', reason));
  };
  const readMachine = async (): Promise<readonly string[]> =>
    describeMachineTrouble(await executor.programs.abilities, workspace);
  return { address, readStatus, readMachine, callsInFlight: () => turnstile.running, watchHealth, close };
}
