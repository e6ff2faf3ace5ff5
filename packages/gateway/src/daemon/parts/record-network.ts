import type { JsonObject } from '@sallyport/contract';
import { NetworkLog } from '@sallyport/sandbox';
import type { NetworkEvent } from '@sallyport/sandbox';

/** What comes sooner after a record is gathered for the next one, so that a server cannot fill the log. */
const recordEveryMs = 60_000;

/** Puts on record what upstream servers ask of the network while no call runs there. */
export function networkRecorder(
  record: (payload: JsonObject) => void,
  redact: (text: string) => string,
  everyMs = recordEveryMs,
): (upstream: string, events: readonly NetworkEvent[]) => void {
  const gathering = new Map<string, NetworkLog>();
  const write = (upstream: string, log: NetworkLog): void => {
    if (log.isEmpty) return;
    const network = log.entries.map(({ target, ...event }) => ({ ...event, target: redact(target) }));
    record({ event: 'upstream_network', upstream, network, network_more: { ...log.beyond } });
  };
  const pause = (upstream: string): void => {
    const log = new NetworkLog();
    gathering.set(upstream, log);
    setTimeout(() => {
      gathering.delete(upstream);
      write(upstream, log);
      if (!log.isEmpty) pause(upstream);
    }, everyMs).unref();
  };
  return (upstream, events) => {
    const gathered = gathering.get(upstream);
    if (gathered !== undefined) {
      gathered.add(...events);
      return;
    }
    const log = new NetworkLog();
    log.add(...events);
    write(upstream, log);
    pause(upstream);
  };
}
