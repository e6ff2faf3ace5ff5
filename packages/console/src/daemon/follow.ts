import { GateError } from '@sallyport/contract/client';
import type { AnswerOf, RequestOf, WatchMethod } from '@sallyport/contract/client';
import { daemon } from './connect.ts';
import { keepCredential } from './credential.ts';

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly retryAtMs: number };

export interface Follower<Method extends WatchMethod> {
  readonly method: Method;
  /** What to ask for, each time the stream is opened. */
  readonly request: () => RequestOf<Method>;
  /** A new stream begins: what is known may be old. */
  readonly onOpen: () => void;
  readonly onMessage: (message: AnswerOf<Method>) => void;
  readonly onState: (state: ConnectionState) => void;
}

const firstPauseMs = 500;
const longestPauseMs = 5000;

/** Keeps a stream open: after a break it is opened again, a little later each time. Returns how to stop and how to hurry. */
export function follow<Method extends WatchMethod>(
  follower: Follower<Method>,
): {
  readonly stop: () => void;
  readonly retry: () => void;
} {
  const end = new AbortController();
  let pauseMs = firstPauseMs;
  let wake = (): void => undefined;

  const run = async (): Promise<void> => {
    follower.onState({ kind: 'connecting' });
    while (!end.signal.aborted) {
      try {
        const onOpen = (): void => {
          pauseMs = firstPauseMs;
          follower.onOpen();
          follower.onState({ kind: 'live' });
        };
        const messages = daemon.watch(follower.method, follower.request(), { signal: end.signal, onOpen });
        for await (const message of messages) follower.onMessage(message);
      } catch (error) {
        if (end.signal.aborted) return;
        // A refused client need not ask again.
        if (error instanceof GateError && error.code === 'unauthenticated') return keepCredential(undefined);
      }
      if (end.signal.aborted) return;
      follower.onState({ kind: 'lost', retryAtMs: Date.now() + pauseMs });
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  void run();
  return {
    stop: () => {
      end.abort();
      wake();
    },
    retry: () => wake(),
  };
}
