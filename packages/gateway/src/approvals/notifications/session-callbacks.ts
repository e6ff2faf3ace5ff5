import type { ApprovalTask } from '../../call/approval.ts';
import type { RedactText } from '../../call/redacted.ts';
import type { Store } from '../../storage/stores.ts';
import type { ApprovalWatch } from '../approval-watch.ts';
import { makeVisible } from '@sallyport/contract';
import { Webhook } from './webhook.ts';
import type { WebhookMessage, WebhookParts } from './webhook.ts';

export interface CallbackParts extends Pick<WebhookParts, 'delaysMs'> {
  readonly watch: ApprovalWatch;
  readonly store: Pick<Store, 'findSession' | 'listUntold' | 'noteTold'>;
  /** The secret that signs messages to a session's callback. */
  readonly secretOf: (sessionId: string) => string;
  readonly redact: RedactText;
  readonly onFailure: (fields: { readonly callback: string; readonly error: unknown }) => void;
}

const tellForMs = 3_600_000;
const mostRepeated = 500;

/**
 * Calls back a caller that does not wait: tells the address of its session how its call was decided, or that nobody did.
 * The address comes from the operator who let the session in, never from the agent.
 *
 * Durability: which caller was told is in the store, so that what a stop of the daemon cut off is told after the next
 * start, under the same id; a caller may hear the same thing twice. Nothing waits for it, and failures are only logged.
 */
export class SessionCallbacks {
  readonly #parts: CallbackParts;
  readonly #webhook: Webhook;
  readonly #stop: () => void;

  constructor(parts: CallbackParts) {
    const { watch, delaysMs } = parts;
    this.#parts = parts;
    this.#webhook = new Webhook({
      onFailure: ({ id }, error) => parts.onFailure({ callback: id, error }),
      ...(delaysMs === undefined ? {} : { delaysMs }),
    });
    this.#stop = watch.listen(({ kind, task }) => {
      if (kind === 'decided' || kind === 'expired') void this.#callBack(task);
    });
  }

  /** After a start, before anything new is decided. */
  async repeat(): Promise<void> {
    const { store } = this.#parts;
    for (const task of await store.listUntold({ endedAfterMs: Date.now() - tellForMs, limit: mostRepeated })) {
      void this.#callBack(task);
    }
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#webhook.close();
  }

  async #callBack(task: ApprovalTask): Promise<void> {
    const { store, secretOf, redact, onFailure } = this.#parts;
    const message = messageAbout(task, redact);
    try {
      const session = store.findSession(task.sessionId);
      if (session?.callbackUrl === undefined || session.status === 'ended') return;
      const receiver = { url: session.callbackUrl, readSecret: () => secretOf(session.id) };
      if (await this.#webhook.send(message, receiver)) await store.noteTold(task.id, Date.now());
    } catch (error) {
      onFailure({ callback: message.id, error });
    }
  }
}

/** What the caller would be answered if it asked: neither the effect nor anything that describes it. */
function messageAbout(task: ApprovalTask, redact: RedactText): WebhookMessage {
  const { id, status, decidedAtMs = task.expiresAtMs, correlationId, note } = task;
  return {
    id: `${id}.callback`,
    untilMs: decidedAtMs + tellForMs,
    body: {
      type: status === 'expired' ? 'approval.expired' : 'approval.decided',
      task_id: id,
      // The caller that ran it knows that it has run.
      status: status === 'used' ? 'approved' : status,
      tool: task.tool,
      session_id: task.sessionId,
      request_id: redact(task.requestId),
      ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
      call_id: task.callId,
      trace_id: task.traceId,
      ...(note === undefined ? {} : { note: makeVisible(redact(note)) }),
      decided_at: new Date(decidedAtMs).toISOString(),
    },
  };
}
