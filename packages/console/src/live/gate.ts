import { daemon } from '../daemon/connect.ts';
import { follow } from '../daemon/follow.ts';
import type { ConnectionState } from '../daemon/follow.ts';
import type { Approval, AuditRecord, Status } from '../daemon/messages.ts';
import { readPayload } from './call.ts';
import { CallLog } from './call-log.ts';
import { Inbox } from './inbox.ts';
import { Observable } from './observable.ts';
import { UnseenAnomalies } from './unseen-anomalies.ts';

export interface Newcomer {
  readonly agent: string;
  readonly token: string;
}

/** Of what waits, as much is asked for at once. Further pages follow as they are wanted. */
const perPage = 100;
/** Fewer are left of those that are known: the next page is read before somebody comes to the end. */
const fewItems = 40;
/** While not all that waits is known, it is counted so often at most. */
const countEveryMs = 1000;
/** A burst of calls needs one look, not one each. */
const gatherMs = 200;

/** Everything that the pages know of the gate, kept up to date by two streams while somebody is logged in. */
export class Gate {
  readonly log = new CallLog();
  readonly inbox = new Inbox();
  readonly anomalies = new UnseenAnomalies();
  readonly status = new Observable<Status | undefined>(undefined);
  readonly connection = new Observable<ConnectionState>({ kind: 'connecting' });
  /** Counts changes to sessions and leases, to tools, and to standing approvals, as the log tells of them. */
  readonly changes = new Observable({ sessions: 0, tools: 0, standing: 0 });
  /** The session that was just made here. Its token is nowhere else, so it stays until the person is done with it. */
  readonly newcomer = new Observable<Newcomer | undefined>(undefined);
  #retry: () => void = () => undefined;

  /** Returns how to stop. */
  start(): () => void {
    const approvals = this.#followApprovals();
    let log = this.#followLog();
    // Browsers open few connections to one host. A tab that nobody sees needs only the one that counts what waits.
    const onVisibility = (): void => {
      log.stop();
      if (document.visibilityState === 'visible') log = this.#followLog();
    };
    document.addEventListener('visibilitychange', onVisibility);
    this.#retry = () => {
      approvals.retry();
      log.retry();
    };
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      approvals.stop();
      log.stop();
    };
  }

  readonly retry = (): void => this.#retry();

  readonly readStatus = async (): Promise<void> => {
    const status = await daemon.call('OperatorService/GetStatus', {}).catch(() => undefined);
    this.status.set(status);
    if (status !== undefined) this.inbox.count(status.pendingApprovals);
  };

  #followApprovals() {
    return follow({
      method: 'ApprovalService/WatchApprovals',
      request: () => ({ withPlans: true, withAnomalies: true, mostPending: perPage }),
      onOpen: () => {
        this.inbox.begin();
        this.anomalies.begin();
        void this.readStatus();
      },
      onMessage: ({ event, approval, plan, anomaly, pendingApprovals }) => {
        if (anomaly !== undefined) this.anomalies.hear(event, anomaly);
        else if (plan !== undefined) this.inbox.hear({ event, plan });
        else if (approval !== undefined) this.#hearApproval(event, approval);
        else if (pendingApprovals !== undefined) {
          this.inbox.settle(pendingApprovals);
          this.anomalies.settle();
        }
      },
      onState: this.connection.set,
    });
  }

  #hearApproval(event: string, approval: Approval): void {
    this.inbox.hear({ event, approval });
    if (this.inbox.next === undefined) return;
    if (!this.#isCounting) {
      this.#isCounting = true;
      setTimeout(() => {
        this.#isCounting = false;
        void this.readStatus();
      }, countEveryMs);
    }
    if (this.inbox.view.get().items.length < fewItems) this.loadMoreApprovals();
  }

  #isCounting = false;

  /** Reads the next page of what waits, unless one is under way or there is none. */
  readonly loadMoreApprovals = (): void => {
    const after = this.inbox.next;
    if (after === undefined || this.#isPaging) return;
    this.#isPaging = true;
    this.inbox.beginPage();
    daemon
      .call('ApprovalService/ListApprovals', { status: 'pending', limit: perPage, after, whole: true })
      .then(
        (page) => this.inbox.addPage(page),
        () => this.inbox.addPage(undefined),
      )
      .finally(() => {
        this.#isPaging = false;
      });
  };

  #isPaging = false;

  #followLog() {
    return follow({
      method: 'OperatorService/WatchAudit',
      request: () => ({ from: String(this.log.next) }),
      onOpen: () => undefined,
      onMessage: ({ records }) => this.#hear(records),
      // That the daemon is gone is seen on the other stream as well.
      onState: () => undefined,
    });
  }

  #hear(records: readonly AuditRecord[]): void {
    this.log.add(records);
    const ended = records.filter(({ kind, result }) => kind === 'event' || (kind === 'outcome' && result === 'ok'));
    const names = ended.map((record) => readPayload(record)).map(({ tool, event }) => tool ?? event ?? '');
    // Only what changes something: a look at the lists is on record as well, and must not lead to another look.
    if (names.some((name) => /^mode\.set$|^mode_|^policy\.apply$|^rules_/.test(name)))
      this.#soon('status', this.readStatus);
    this.#count(names);
  }

  #count(names: readonly string[]): void {
    const has = (pattern: RegExp): number => Number(names.some((name) => pattern.test(name)));
    const { sessions, tools, standing } = this.changes.get();
    const next = {
      sessions: sessions + has(/^sessions\.(?:create|end)$|^leases\.(?:grant|revoke)$|^console_log|^people\.revoke$/),
      tools: tools + has(/^tools\.(?:install|accept|remove)|^tool_/),
      standing: standing + has(/^approvals\.(?:approve|standing_revoke)$|^mode\.set$|^mode_/),
    };
    if (next.sessions + next.tools + next.standing > sessions + tools + standing) this.changes.set(next);
  }

  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  #soon(name: string, run: () => Promise<void>): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.set(
      name,
      setTimeout(() => void run(), gatherMs),
    );
  }
}
