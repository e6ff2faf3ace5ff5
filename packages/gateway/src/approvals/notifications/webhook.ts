import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@sallyport/contract';

export interface WebhookMessage {
  /** The same for the same thing, however often it is told. */
  readonly id: string;
  /** When it is too late to tell anybody. */
  readonly untilMs: number;
  /** For programs. */
  readonly body: JsonObject;
}

/** Another system that is told. */
export interface Receiver {
  readonly url: string;
  /** Read for each message, so that a new value counts at once. Throws when it is not set. */
  readonly readSecret: () => string;
}

export interface WebhookParts {
  readonly onFailure: (message: WebhookMessage, error: unknown) => void;
  /** Between tries. Absent: seconds at first, minutes later. */
  readonly delaysMs?: readonly number[];
}

const usualDelaysMs = [1000, 5000, 15_000, 60_000, 120_000, 300_000];
const patienceMs = 10_000;
const mostWaiting = 1000;

/**
 * Tells other systems, signed as Standard Webhooks has it, so that receivers can verify it with a library. Tries again
 * until the message is taken, is too late, or the other side says that it never will. Sending never holds up or fails
 * anything else. What was not delivered when the daemon ended is forgotten here: the sender knows what to send again.
 */
export class Webhook {
  readonly #parts: WebhookParts;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<boolean>>();

  constructor(parts: WebhookParts) {
    this.#parts = parts;
  }

  /** Whether the message was taken. Never rejects. */
  send(message: WebhookMessage, to: Receiver): Promise<boolean> {
    if (this.#closing.signal.aborted) return Promise.resolve(false);
    if (this.#running.size >= mostWaiting) {
      this.#parts.onFailure(message, new Error('too many messages wait already'));
      return Promise.resolve(false);
    }
    const delivery = this.#deliver(message, to).then(
      () => true,
      (error: unknown) => {
        if (!this.#closing.signal.aborted) this.#parts.onFailure(message, error);
        return false;
      },
    );
    this.#running.add(delivery);
    void delivery.finally(() => this.#running.delete(delivery));
    return delivery;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #deliver(message: WebhookMessage, to: Receiver): Promise<void> {
    const delaysMs = this.#parts.delaysMs ?? usualDelaysMs;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#post(message, to);
      } catch (error) {
        const delayMs = delaysMs[attempt];
        const isLate = delayMs === undefined || Date.now() + delayMs >= message.untilMs;
        if (isLate || error instanceof RejectedMessage) throw error;
        await sleep(delayMs, undefined, { signal: this.#closing.signal });
      }
    }
  }

  async #post(message: WebhookMessage, { url, readSecret }: Receiver): Promise<void> {
    const body = JSON.stringify(message.body);
    const seconds = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', keyOf(readSecret())).update(`${message.id}.${seconds}.${body}`);
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'sallyport',
        'webhook-id': message.id,
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
