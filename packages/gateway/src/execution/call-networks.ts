import { NetworkLog } from '@sallyport/sandbox';
import type { NetworkEvent } from '@sallyport/sandbox';

/** What one call asked of the network. */
export interface CallNetwork {
  readonly log: NetworkLog;
  readonly note: (events: readonly NetworkEvent[]) => void;
}

/**
 * What the calls under way asked of the network. Kept beside the facts of a call, because it belongs in the record
 * also when the call ends as a refusal or a fault, which pass on nothing of what the tool did.
 */
export class CallNetworks {
  readonly #logs = new Map<string, NetworkLog>();

  /** A call that asks for nothing, or that is only looked at, leaves nothing here. */
  open(callId: string): CallNetwork {
    const log = this.#logs.get(callId) ?? new NetworkLog();
    const note = (events: readonly NetworkEvent[]): void => {
      if (log.isEmpty) this.#logs.set(callId, log);
      log.add(...events);
    };
    return { log, note };
  }

  /** For the record: what the call asked for until now, which is forgotten here. Undefined: nothing. */
  take(callId: string): NetworkLog | undefined {
    // Looking for an id that is new costs more than this whole class otherwise: V8 files each text that is looked for.
    if (this.#logs.size === 0) return undefined;
    const log = this.#logs.get(callId);
    this.#logs.delete(callId);
    return log;
  }
}
