import { GateClient, GateError, overFetch } from '@sallyport/contract/client';
import { currentCredential, keepCredential } from './credential.ts';

/** How far the clock of the daemon is ahead of ours. Only told when it is more than the resolution of the header. */
let aheadMs = 0;

export function daemonNowMs(): number {
  return Date.now() + aheadMs;
}

/** The daemon that this page came from. */
export const daemon = new GateClient(
  overFetch(undefined, {
    fetch: (path, init) =>
      fetch(path, init).catch((error: unknown) => {
        throw init?.signal?.aborted ? error : new GateError('unreachable', 'The daemon cannot be reached.');
      }),
    init: { cache: 'no-store', credentials: 'omit' },
    onResponse: ({ headers, status }) => {
      // The session was ended, or its time is over: from here on only a new link helps.
      if (status === 401) keepCredential(undefined);
      const difference = Date.parse(headers.get('date') ?? '') - Date.now();
      aheadMs = Number.isNaN(difference) || Math.abs(difference) < 2000 ? 0 : difference;
    },
  }),
  () => currentCredential()?.token,
);
