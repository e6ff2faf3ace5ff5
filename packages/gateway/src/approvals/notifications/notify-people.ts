import type { Abuse, Anomaly } from '../../call/anomaly.ts';
import type { ApprovalTask } from '../../call/approval.ts';
import type { RedactText } from '../../call/redacted.ts';
import type { ApprovalNews, ApprovalWatch, PlanWatch } from '../approval-watch.ts';
import { showOnDesktop } from './desktop-notice.ts';
import { noticeOfAbuse, noticeOfAnomaly, noticeOfPlan, noticeOfTask } from './notice.ts';
import type { Notice } from './notice.ts';
import type { NotificationSettings } from './notification-settings.ts';
import { Webhook } from './webhook.ts';

export interface NotificationParts {
  readonly settings: NotificationSettings;
  readonly watch: ApprovalWatch;
  readonly plans: PlanWatch;
  /** Where the console is, when nothing else is said. */
  readonly address: () => string;
  readonly redact: RedactText;
  readonly readSecret: (name: string) => string;
  readonly onFailure: (event: 'webhook_failed' | 'desktop_notice_failed', fields: Record<string, unknown>) => void;
}

/** Tells people what waits for them. Listens only; nothing waits for it, and its failures are only logged. */
export class PeopleNotifier {
  readonly #parts: NotificationParts;
  #settings: NotificationSettings;
  #webhook: Webhook;
  readonly #stops: readonly (() => void)[];
  /** Tasks that wait. */
  readonly #told = new Set<string>();

  constructor(parts: NotificationParts) {
    this.#parts = parts;
    const { settings, watch, plans } = parts;
    this.#settings = settings;
    this.#webhook = this.#openWebhook();
    this.#stops = [
      watch.listen((news) => this.#hearTask(news)),
      plans.listen(
        ({ kind, plan }) => void this.#tell(noticeOfPlan(kind, plan, this.#link('plans', plan.id), parts.redact)),
      ),
    ];
  }

  /** After a start: what still waits may have been told to nobody. Receivers know it by its id. */
  repeat(pending: readonly ApprovalTask[]): void {
    for (const task of pending) {
      this.#told.add(task.id);
      void this.#send(noticeOfTask('pending', task, this.#link('approvals', task.id), this.#parts.redact));
    }
  }

  /** From now on people hear it in another way. What still waits is told again, because they may not have heard it. */
  change(settings: NotificationSettings, pending: readonly ApprovalTask[]): void {
    void this.#webhook.close();
    this.#settings = settings;
    this.#webhook = this.#openWebhook();
    this.repeat(pending);
  }

  /** `senior`: whom it is for. Undefined: the directors. */
  tellAbuse(abuse: Abuse, senior: string | undefined): void {
    void this.#tell(
      noticeOfAbuse(abuse, senior, this.#link('sessions', abuse.sessionId), Date.now(), this.#parts.redact),
    );
  }

  /** Whether they were told, or nobody wants to be; false: a webhook did not take it. */
  tellAnomaly(anomaly: Anomaly): Promise<boolean> {
    const notice = noticeOfAnomaly(anomaly, this.#link('anomalies', anomaly.id), this.#parts.redact);
    return this.#tell(notice);
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.#webhook.close();
  }

  #hearTask({ kind, task }: ApprovalNews): void {
    if (kind === 'outdated') return;
    if (kind === 'pending') {
      // Requests that join a task are no news.
      if (this.#told.has(task.id)) return;
      this.#told.add(task.id);
    } else if (kind !== 'reminder') {
      this.#told.delete(task.id);
    }
    void this.#tell(noticeOfTask(kind, task, this.#link('approvals', task.id), this.#parts.redact));
  }

  #tell(notice: Notice): Promise<boolean> {
    const { onFailure } = this.#parts;
    const isUrgent = ['pending', 'reminder', 'abuse', 'anomaly'].includes(notice.event);
    if (this.#settings.desktop && isUrgent)
      showOnDesktop(notice, (error) => onFailure('desktop_notice_failed', { error }));
    return this.#send(notice);
  }

  async #send(notice: Notice): Promise<boolean> {
    const { webhook } = this.#settings;
    if (!webhook?.events.includes(notice.event)) return true;
    const readSecret = (): string => this.#parts.readSecret(webhook.secret);
    return this.#webhook.send(notice, { url: webhook.url, readSecret });
  }

  #link(what: 'approvals' | 'plans' | 'sessions' | 'anomalies', id: string): string {
    return `${this.#settings.consoleUrl ?? this.#parts.address()}/#/${what}/${id}`;
  }

  #openWebhook(): Webhook {
    const { onFailure } = this.#parts;
    return new Webhook({ onFailure: ({ id }, error) => onFailure('webhook_failed', { notice: id, error }) });
  }
}
