import type { DaemonClient } from './daemon-client.ts';
import { streamJson } from './stream-json.ts';

export interface Watched {
  readonly client: Pick<DaemonClient, 'stream'>;
  /** Service and method. */
  readonly method: string;
  readonly signal: AbortSignal;
}

/** Hears a stream of the daemon until the signal aborts. Throws CommandFailure when the daemon ends or does not answer. */
export async function followWatch(
  { client, method, signal }: Watched,
  onMessage: (message: unknown) => void,
): Promise<void> {
  const path = `/sallyport.v1.${method}`;
  try {
    await client.stream(async ({ target, credential }) => {
      for await (const message of streamJson({ target, path, credential, message: {}, signal })) onMessage(message);
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Ctrl-C ends the watch, which is no failure. */
export function openExit(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const exit = new AbortController();
  const abort = (): void => exit.abort();
  process.once('SIGINT', abort);
  return { signal: exit.signal, abort };
}
