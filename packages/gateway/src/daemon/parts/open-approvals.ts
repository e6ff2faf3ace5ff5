import { ApprovalClock } from '../../approvals/approval-clock.ts';
import { ApprovalWatch, PlanWatch } from '../../approvals/approval-watch.ts';
import { ConfirmTokens, createConfirmKey } from '../../approvals/confirm-tokens.ts';
import { explainHold } from '../../approvals/explain-hold.ts';
import { mayDecide } from '../../approvals/may-decide.ts';
import { UnmaskedSecrets } from '../../approvals/unmasked-secrets.ts';
import { FollowedSettings } from '../../approvals/notifications/followed-settings.ts';
import { PeopleNotifier } from '../../approvals/notifications/notify-people.ts';
import { SessionCallbacks } from '../../approvals/notifications/session-callbacks.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { Rehearse } from '../../approvals/rehearsal.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { Rules } from '../../call/verdict.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import type { Offices } from '../../organisation/offices.ts';
import type { ApprovalTask } from '../../call/approval.ts';
import type { RulesFor } from '../../stages/judge-call.ts';
import type { ApprovalParts } from '../../stages/approval/approval-parts.ts';
import type { Store } from '../../storage/stores.ts';
import type { EventLog } from '../../telemetry/event-log.ts';
import type { Showing } from '../../approvals/tools/describe-approval.ts';
import { approvalTools } from '../../approvals/tools/index.ts';
import type { Home } from '../home/home.ts';
import { readOrCreateSecret, replaceSecret } from '../home/secret-files.ts';

export interface ApprovalsSource {
  readonly home: Home;
  readonly store: Store;
  readonly redactor: Redactor;
  readonly log: EventLog;
  readonly currentRules: () => Rules;
  readonly rulesFor: RulesFor;
  readonly offices: Offices;
  /** The present folder of the rule files. */
  readonly findFolder: () => string;
  readonly secrets: SecretStore;
  /** Used only once calls come in. */
  readonly rehearse: Rehearse;
  /** Where the console is, once the doors are open. */
  readonly address: () => string;
}

export interface OpenedApprovals {
  readonly watch: ApprovalWatch;
  readonly plans: PlanWatch;
  readonly tools: readonly AnyTool[];
  readonly forGateway: ApprovalParts;
  /** How people are shown what waits. */
  readonly showing: Showing;
  /** Has calls that wait under other rules judged anew. */
  readonly onRulesApplied: () => Promise<void>;
  /** Nobody has to decide about what a session asked for that has ended. */
  readonly onSessionEnded: (sessionId: string) => Promise<void>;
  readonly tellAbuse: PeopleNotifier['tellAbuse'];
  readonly tellAnomaly: PeopleNotifier['tellAnomaly'];
  /** Where a person decides about a task. */
  readonly linkToTask: (taskId: string) => string;
  /** What an operator should mend. */
  readonly warnings: () => readonly string[];
  /** Does what became due while no daemon ran, and goes on from there. */
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const mostRepeated = 500;
/** All that can wait, in practice. */
const mostWaiting = 20_000;

/** Puts together what concerns people's decisions. */
export function openApprovals(source: ApprovalsSource): OpenedApprovals {
  const { home, store, redactor, log, currentRules, rulesFor, offices } = source;
  const limits = () => currentRules().limits.approvals;
  const [watch, plans] = [new ApprovalWatch(), new PlanWatch()];
  const unmasked = new UnmaskedSecrets(watch, plans);
  const learn = (keyFile: string): void =>
    keyFile.split('\n').forEach((key) => redactor.learn(key, 'key of confirm tokens'));
  const keyFile = readOrCreateSecret(home.confirmKeyFile, createConfirmKey);
  learn(keyFile);
  const tokens = new ConfirmTokens(keyFile);
  const reportFault = (error: unknown): void => log.error('approval_clock_failed', { error });
  const clock = new ApprovalClock({
    store,
    watch,
    plans,
    onFault: reportFault,
  });
  const readPending = () => store.listApprovals({ status: 'pending', limit: mostRepeated });
  const settings = new FollowedSettings({
    findFolder: source.findFolder,
    ownFolder: home.rulesFolder,
    onChange: (changed) => {
      log.info('notifications_changed', { folder: source.findFolder() });
      readPending().then((pending) => notifier.change(changed, pending), reportFault);
    },
    onProblem: (problem) => log.warn('notifications_unusable', { problem }),
  });
  const notifier = new PeopleNotifier({
    settings: settings.current,
    watch,
    plans,
    address: source.address,
    redact: redactor.redactText,
    readSecret: (name) => readOwnSecret(source.secrets, name),
    onFailure: (event, fields) => log.warn(event, fields),
  });
  const callbacks = new SessionCallbacks({
    ...{ watch, store },
    secretOf: (sessionId) => callbackSecret(source.secrets, sessionId),
    redact: redactor.redactText,
    onFailure: (fields) => log.warn('callback_failed', fields),
  });
  const routeApproval: ApprovalParts['routeApproval'] = (session, risk) => offices.routeApproval(session, risk);
  // No rules have this hash: nothing that waits in a workspace which is not accepted any more can be decided.
  const rulesHashFor = (sessionId: string) => rulesFor(store.findSession(sessionId) ?? {})?.hash ?? '';
  const circumstances = (sessionId: string) => ({ rulesHash: rulesHashFor(sessionId), mode: store.readMode() });
  const showing = {
    hideHeld: redactor.hideHeld,
    workspaceOf: (sessionId: string) => rulesFor(store.findSession(sessionId) ?? {})?.workspace.folder ?? '',
    explainHold: explainHold({ circumstances, unmasked, findSession: (id) => store.findSession(id) }),
  };
  const tools = approvalTools({
    store,
    watch,
    plans,
    tokens,
    mayDecide: mayDecide({
      isSenior: (person, agent) => offices.isSenior(person, agent),
      isDirector: (person) => offices.isDirector(person),
      isSeniorAgent: (senior, agent) => offices.isSeniorAgent(senior, agent),
      rulesHashFor,
      findSession: (id) => store.findSession(id),
    }),
    routeApproval,
    limits,
    circumstances,
    ...showing,
    rehearse: source.rehearse,
    unmasked,
    redact: redactor.redactText,
    saveConfirmKey: (rotated) => {
      learn(rotated);
      replaceSecret(home.confirmKeyFile, rotated);
    },
  });
  const onPending: ApprovalParts['onPending'] = (task, secrets) => {
    if (secrets !== undefined) unmasked.keep(task.id, secrets, task.expiresAtMs);
    watch.tell({ kind: 'pending', task });
  };
  const denyByGate = async ({ id: taskId, effectSha256 }: ApprovalTask, note: string): Promise<void> => {
    const decision = { taskId, approved: false, by: 'gate', atMs: Date.now(), effectSha256, note };
    const task = await store.decideApproval(decision);
    if (task !== undefined) watch.tell({ kind: 'decided', task });
  };
  return {
    watch,
    plans,
    tools,
    forGateway: {
      ...{ store, tokens, routeApproval, limits, onPending },
      assigneeOf: (agent, role) => offices.assigneeOf(agent, role),
      endOutdated: (task) => denyByGate(task, 'The rules have changed, and the same was asked again.'),
      hasRoom: (characters, taskId) => unmasked.hasRoom(characters, taskId),
    },
    showing,
    onRulesApplied: async () => {
      const outdated = (await store.listApprovals({ status: 'pending', limit: mostWaiting })).filter(
        (task) => task.rulesHash !== rulesHashFor(task.sessionId),
      );
      for (const task of outdated) watch.tell({ kind: 'outdated', task });
    },
    onSessionEnded: async (sessionId) => {
      const waiting = await store.listApprovals({ status: 'pending', sessionId, limit: mostWaiting });
      for (const task of waiting) await denyByGate(task, 'The session that asked has ended.');
    },
    tellAbuse: (abuse, senior) => notifier.tellAbuse(abuse, senior),
    tellAnomaly: (anomaly) => notifier.tellAnomaly(anomaly),
    start: async () => {
      await callbacks.repeat();
      await clock.start();
      notifier.repeat(await readPending());
    },
    linkToTask: (taskId) => `${settings.current.consoleUrl ?? source.address()}/#/approvals/${taskId}`,
    warnings: () => {
      settings.look();
      const { problem } = settings;
      return problem === undefined
        ? []
        : [`${problem}\nUntil it is corrected, notifications go on as they were before the mistake.`];
    },
    close: async () => {
      settings.close();
      await clock.close();
      await notifier.close();
      await callbacks.close();
    },
  };
}

/** The secret that signs messages to the callback of a session. It is shown once, when the session is created. */
export function callbackSecret(secrets: SecretStore, sessionId: string): string {
  return secrets.deriveSigningSecret(`callback of session ${sessionId}`);
}

/** A secret that the gate itself uses: the operator named it in the configuration, which is leave enough. */
function readOwnSecret(secrets: SecretStore, name: string): string {
  const use = 'notifications';
  return secrets.secretsFor([{ name, tools: [use], hosts: [] }], { tool: use }).get(name) ?? '';
}
