import { join } from 'node:path';
import { reconcileIntents } from '../../audit/reconcile.ts';
import type { Session } from '../../call/session.ts';
import { ContentStore } from '../../content/content-store.ts';
import { AppliedRules } from '../../policy/files/applied-rules.ts';
import type { GateFolders } from '../../policy/judge/protected-paths.ts';
import { resolveWorkspace } from '../../policy/judge/resolve-workspace.ts';
import type { LoadedRules } from '../../policy/language/load-rules.ts';
import { resolveLinks } from '../../policy/patterns/canonical-path.ts';
import { Redactor, secretsOfEnvironment } from '../../redaction/redact.ts';
import { createSecretsKey } from '../../secrets/seal-secret.ts';
import { SecretStore } from '../../secrets/secret-store.ts';
import { BackgroundIndex } from '../../storage/sqlite/index/background-index.ts';
import { openSqliteStore } from '../../storage/sqlite/sqlite-store.ts';
import type { Store } from '../../storage/stores.ts';
import { EventLog } from '../../telemetry/event-log.ts';
import { findCutOffUndos } from '../../undo/cut-off-undos.ts';
import type { CutOffUndo } from '../../undo/cut-off-undos.ts';
import { WorkspaceBook } from '../../workspaces/workspace-book.ts';
import { noteRestored } from '../backup/note-restored.ts';
import type { Config } from '../config.ts';
import { openTelemetry } from '../health/open-telemetry.ts';
import type { Telemetry } from '../health/open-telemetry.ts';
import type { Home } from '../home/home.ts';
import { openOperatorSession, openSigningKey } from '../home/identity.ts';
import { findOpenFolder, makeOwnWorkspace } from '../home/open-folder.ts';
import { readOrCreateSecret } from '../home/secret-files.ts';
import { openStateKey } from '../home/state-key.ts';
import { version } from '../version.ts';
import { secretsOfLogin } from './login-store.ts';

const reserveBytes = 4 * 1024 * 1024;
const ignore = (): void => undefined;

/** What every part of the daemon stands on: its home, its log, the store, the rules and the secrets. */
export interface Ground {
  readonly config: Config;
  readonly home: Home;
  readonly folders: GateFolders;
  readonly workspace: string;
  /** Why it is not the folder that was asked for. Empty: it is. */
  readonly workspaceReason: string;
  readonly redactor: Redactor;
  /** Hides a secret that somebody outside chose, such as a token of another service. */
  readonly learn: (secret: string) => void;
  readonly log: EventLog;
  readonly telemetry: Telemetry;
  /** Authenticates the state beside the log. */
  readonly stateSecret: string;
  readonly store: Store;
  readonly index: BackgroundIndex;
  readonly applied: AppliedRules;
  readonly currentRules: () => LoadedRules;
  readonly rulesFor: (session: Pick<Session, 'workspace'>) => LoadedRules | undefined;
  /** The present folder of the rule files. */
  readonly findFolder: () => string;
  readonly workspaces: WorkspaceBook;
  readonly secrets: SecretStore;
  readonly content: ContentStore;
  /** How many calls a crash has cut off. */
  readonly cutOffCalls: number;
  readonly cutOffUndos: readonly CutOffUndo[];
  /** Says in the audit log that the daemon serves, and what it found when it started. */
  readonly recordStart: () => Promise<void>;
}

/** Opens it, and defers closing it. `stoppedBy`: who wanted the stop, for the record. */
export async function openGround(
  config: Config,
  opened: AsyncDisposableStack,
  stoppedBy: () => string,
): Promise<Ground> {
  const { home, startFolder, userHome, programFolder, rulesFolder } = config;
  const folders = { home: home.folder, userHome, programFolder, rulesFolder };
  const { workspace, reason: workspaceReason = '' } = resolveWorkspace({
    ...folders,
    ...(config.workspace === undefined ? {} : { explicit: config.workspace }),
    startFolder,
    makeOwnWorkspace: () => makeOwnWorkspace(join(findOpenFolder(home.folder), 'workspace')),
  });
  const redactor = new Redactor(secretsOfEnvironment(process.env));
  const learn = (secret: string): void => redactor.learn(secret, undefined, { isForeign: true });
  const log = EventLog.toFile(home.logFile, 'info', redactor.redactText);
  opened.defer(() => log.close());
  const telemetry = await openTelemetry(config, redactor);
  opened.defer(() => telemetry.close());

  const stateKey = openStateKey(home);
  redactor.learn(stateKey.key, 'state key of the gate');
  // Its thread starts while the rules are read.
  const opening = openStore(home, redactor, stateKey);
  opened.defer(() => opening.then((each) => each.close(), ignore));
  const findFolder = (): string => config.rulesFolder;
  const applied = new AppliedRules({ ...folders, findFolder, workspace }, home.appliedRulesFile, {
    secret: stateKey.key,
    isNew: stateKey.isNew,
  });
  const store = await opening;
  const { databaseFile, indexFile, archiveFolder } = home;
  const index = new BackgroundIndex({
    ...{ databaseFile, indexFile, archiveFolder },
    logSize: store.logSize,
    onError: (error) => log.error('index_failed', { error }),
  });
  opened.defer(() => index.close());
  const workspaces = new WorkspaceBook({ index: store, own: workspace, userHome: resolveLinks(userHome) });
  const knownSequence = await store.readRulesSequence();
  applied.checkNewest(knownSequence);
  if (applied.sequence !== knownSequence) await store.noteRulesSequence(applied.sequence);
  stateKey.keep();

  const cutOff = await reconcileIntents(store, Date.now());
  const cutOffUndos = await findCutOffUndos(cutOff, store);
  const recordEvent = (event: string, more: { readonly reason?: string; readonly by?: string } = {}) =>
    store.append({
      kind: 'event',
      result: 'none',
      timeMs: Date.now(),
      rulesHash: applied.current.hash,
      payload: redactor.redactEvent({
        event,
        version,
        pid: process.pid,
        workspace,
        cut_off_calls: cutOff.length,
        ...more,
      }),
    });
  const operatorToken = await openOperatorSession(home, store, workspace);
  redactor.learn(operatorToken, 'operator credential');
  store.onSealed((reason) => log.error('sealed', { reason }));
  store.onHealed((reason) => {
    log.warn('unsealed', { reason });
    void recordEvent('daemon_unsealed', { reason }).then(ignore, ignore);
  });
  // Before anybody can call.
  await noteRestored(home, { store, operatorToken, recordEvent });
  // A sealed store cannot take the note, and has said so already.
  opened.defer(() => recordEvent('daemon_stopped', { by: stoppedBy() }).then(ignore, ignore));

  return {
    ...{ config, home, folders, workspace, workspaceReason, redactor, learn, log, telemetry },
    ...{ stateSecret: stateKey.key, store, index, applied, findFolder, workspaces, cutOffUndos },
    currentRules: () => applied.current,
    rulesFor: (session) => {
      const where = workspaces.of(session);
      return where === undefined ? undefined : applied.current.within(where);
    },
    secrets: await openSecrets(home, store, redactor, learn),
    content: await ContentStore.open({ folder: home.contentFolder, index: store }),
    cutOffCalls: cutOff.length,
    recordStart: async () => {
      const areRulesTakenOver = applied.wasFresh && knownSequence > 0;
      if (areRulesTakenOver) await recordEvent('rules_taken_over', { reason: 'the copy was removed' });
      for (const { callId, changes } of cutOffUndos) {
        log.warn('undo_cut_off', { call: callId, changes });
        const payload = redactor.redactEvent({ event: 'undo_cut_off', call: callId, changes });
        await store.append({ kind: 'event', result: 'unknown', timeMs: Date.now(), payload });
      }
      await recordEvent('daemon_started');
    },
  };
}

function openStore(
  home: Home,
  redactor: Redactor,
  stateKey: { readonly key: string; readonly isNew: boolean },
): Promise<Store> {
  const { key: signingKey, origin, seed } = openSigningKey(home);
  redactor.learn(seed, 'audit key of the gate');
  const { databaseFile, checkpointFile, reserveFile, archiveFolder } = home;
  return openSqliteStore({
    ...{ databaseFile, signingKey, origin, checkpointFile, reserveFile, reserveBytes, archiveFolder },
    stateKey: stateKey.key,
    adoptState: stateKey.isNew,
  });
}

function openSecrets(
  home: Home,
  store: Store,
  redactor: Redactor,
  learnForeign: (secret: string) => void,
): Promise<SecretStore> {
  return SecretStore.open({
    index: store,
    key: readOrCreateSecret(home.secretsKeyFile, createSecretsKey),
    learn: (value, name) => {
      const foreign = secretsOfLogin(name, value);
      if (foreign === undefined) redactor.learn(value, name);
      else foreign.forEach(learnForeign);
    },
  });
}
