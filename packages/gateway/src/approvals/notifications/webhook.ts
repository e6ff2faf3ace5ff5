import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Notice } from './notice.ts';

export interface WebhookParts {
  readonly url: string;
  /** Read for each message, so that a new value counts at once. Throws when it is not set. */
  readonly readSecret: () => string;
  readonly onFailure: (notice: Notice, error: unknown) => void;
  /** Between tries. Absent: seconds at first, minutes later. */
  readonly delaysMs?: readonly number[];
}

const usualDelaysMs = [1000, 5000, 15_000, 60_000, 120_000, 300_000];
const patienceMs = 10_000;
const mostWaiting = 1000;

/**
 * Tells another system, signed as Standard Webhooks has it, so that receivers can verify it with a library. Tries again
 * until the message is taken, is too late, or the other side says that it never will. Sending never holds up or fails
 * anything else. What was not delivered when the daemon ended is told again after the next start if it still waits.
 */
export class Webhook {
  readonly #parts: WebhookParts;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(parts: WebhookParts) {
    this.#parts = parts;
  }

  send(notice: Notice): void {
    if (this.#closing.signal.aborted) return;
    if (this.#running.size >= mostWaiting) {
      this.#parts.onFailure(notice, new Error('too many messages wait already'));
      return;
    }
    const delivery = this.#deliver(notice).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#parts.onFailure(notice, error);
    });
    this.#running.add(delivery);
    void delivery.finally(() => this.#running.delete(delivery));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #deliver(notice: Notice): Promise<void> {
    const delaysMs = this.#parts.delaysMs ?? usualDelaysMs;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#post(notice);
      } catch (error) {
        const delayMs = delaysMs[attempt];
        const isLate = delayMs === undefined || Date.now() + delayMs >= notice.untilMs;
        if (isLate || error instanceof RejectedMessage) throw error;
        await sleep(delayMs, undefined, { signal: this.#closing.signal });
      }
    }
  }

  async #post(notice: Notice): Promise<void> {
    const { url, readSecret } = this.#parts;
    const body = JSON.stringify(notice.body);
    const seconds = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', keyOf(readSecret())).update(`${notice.id}.${seconds}.${body}`);
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'sallyport',
        'webhook-id': notice.id,
        'webhook-timestamp': seconds,
        'webhook-signature': `v1,${signature.digest('base64')}`,
      },
      body,
      // What is signed for one place is not for another.
      redirect: 'error',
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(patienceMs)]),
    });
    await response.body?.cancel();
    if (response.ok) return;
    const isFinal = response.status >= 400 && response.status < 500 && ![408, 425, 429].includes(response.status);
    const problem = `the other side answered ${response.status}`;
    throw isFinal ? new RejectedMessage(problem) : new Error(problem);
  }
}

/** The other side will not take it, however often it is sent. */
class RejectedMessage extends Error {}

/** As Standard Webhooks writes secrets; any other text counts as its bytes. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}
