import type { Socket } from 'node:net';
import { checkHost } from './check-host.ts';
import type { Target } from './check-host.ts';
import { dialChecked } from './dial-checked.ts';
import type { Dial } from './dial-checked.ts';
import type { EgressRecord } from './egress-record.ts';
import type { HostPattern } from './host-pattern.ts';
import { resolveChecked } from './resolve-checked.ts';
import type { Resolve } from './resolve-checked.ts';

export interface OutletOptions {
  readonly hosts: readonly HostPattern[];
  readonly connectMs: number;
  readonly record: EgressRecord;
  /** Absent: as the system does it. */
  readonly resolve: Resolve | undefined;
  readonly dial: Dial | undefined;
}

/** The only way out of a call: checked, resolved once, and dialled by the address that was checked. */
export class Outlet {
  readonly #options: OutletOptions;
  #lookups: Promise<unknown> = Promise.resolve();

  constructor(options: OutletOptions) {
    this.#options = options;
  }

  /** Throws HostRefused; anything else means that the host could not be reached. `signal`: the caller has left. */
  async connect(
    authority: string,
    signal: AbortSignal,
    options: { readonly defaultPort?: number } = {},
  ): Promise<Socket> {
    const { hosts, record } = this.#options;
    let endpoint = authority;
    try {
      const target = checkHost(authority, hosts, options);
      endpoint = `${target.host}:${target.port}`;
      const socket = await this.#reach(target, signal);
      record.countConnection(endpoint);
      return socket;
    } catch (error) {
      record.noteFailure(endpoint, error);
      throw error;
    }
  }

  async #reach(target: Target, signal: AbortSignal): Promise<Socket> {
    const { connectMs, resolve, dial } = this.#options;
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(connectMs)]);
    const addresses = await untilAborted(this.#lookUp(target, inTime, resolve), inTime);
    return dialChecked(addresses, target.port, { signal: inTime, ...(dial === undefined ? {} : { dial }) });
  }

  /** One at a time: a question to the system's resolver occupies a thread that other calls need too. */
  #lookUp(target: Target, signal: AbortSignal, resolve: Resolve | undefined): Promise<readonly string[]> {
    const answer = this.#lookups.then(() => {
      signal.throwIfAborted();
      return resolveChecked(target, resolve);
    });
    this.#lookups = answer.catch(() => undefined);
    return answer;
  }
}

/** The resolver of the system cannot be stopped, but the caller need not wait for it. */
function untilAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    result.then(resolve, reject);
  });
}
