import type { ApprovalTask } from '../../model/approval.ts';
import type { ApprovalNews, ApprovalWatch, PlanWatch } from '../approval-watch.ts';
import { showOnDesktop } from './desktop-notice.ts';
import { noticeOfPlan, noticeOfTask } from './notice.ts';
import type { Notice } from './notice.ts';
import type { NotificationSettings } from './notification-settings.ts';
import { Webhook } from './webhook.ts';

export interface NotificationParts {
  readonly settings: NotificationSettings;
  readonly watch: ApprovalWatch;
  readonly plans: PlanWatch;
  /** Where the console is, when nothing else is said. */
  readonly address: () => string;
  readonly readSecret: (name: string) => string;
  readonly onFailure: (event: 'webhook_failed' | 'desktop_notice_failed', fields: Record<string, unknown>) => void;
}

/** Tells people what waits for them. Listens only; nothing waits for it, and its failures are only logged. */
export class PeopleNotifier {
  readonly #parts: NotificationParts;
  readonly #webhook: Webhook | undefined;
  readonly #stops: readonly (() => void)[];
  /** Tasks that wait. */
  readonly #told = new Set<string>();

  constructor(parts: NotificationParts) {
    this.#parts = parts;
    const { settings, watch, plans, readSecret, onFailure } = parts;
    const { webhook } = settings;
    this.#webhook =
      webhook &&
      new Webhook({
        url: webhook.url,
        readSecret: () => readSecret(webhook.secret),
        onFailure: (notice, error) => onFailure('webhook_failed', { notice: notice.id, error }),
      });
    this.#stops = [
      watch.listen((news) => this.#hearTask(news)),
      plans.listen(({ kind, plan }) => {
        const event = kind === 'proposed' ? 'pending' : 'decided';
        this.#tell(noticeOfPlan(event, plan, this.#link('plans', plan.id)));
      }),
    ];
  }

  /** After a start: what still waits may have been told to nobody. Receivers know it by its id. */
  repeat(pending: readonly ApprovalTask[]): void {
    for (const task of pending) {
      this.#told.add(task.id);
      this.#send(noticeOfTask('pending', task, this.#link('approvals', task.id)));
    }
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.#webhook?.close();
  }

  #hearTask({ kind, task }: ApprovalNews): void {
    if (kind === 'pending') {
      // Requests that join a task are no news.
      if (this.#told.has(task.id)) return;
      this.#told.add(task.id);
    } else if (kind !== 'reminder') {
      this.#told.delete(task.id);
    }
    this.#tell(noticeOfTask(kind, task, this.#link('approvals', task.id)));
  }

  #tell(notice: Notice): void {
    const { settings, onFailure } = this.#parts;
    this.#send(notice);
    const isAsked = notice.event === 'pending' || notice.event === 'reminder';
    if (settings.desktop && isAsked) showOnDesktop(notice, (error) => onFailure('desktop_notice_failed', { error }));
  }

  #send(notice: Notice): void {
    if (this.#parts.settings.webhook?.events.includes(notice.event)) this.#webhook?.send(notice);
  }

  #link(what: 'approvals' | 'plans', id: string): string {
    const { settings, address } = this.#parts;
    return `${settings.consoleUrl ?? address()}/#/${what}/${id}`;
  }
}
