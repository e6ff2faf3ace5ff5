/** The gate did not take the request, or its answer was lost: then the log knows whether the call had an effect. */
export class GateError extends Error {
  /** `unreachable`, `bad_answer`, or a code of Connect such as `unauthenticated`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GateError';
    this.code = code;
  }
}

export interface Question {
  /** Of the URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Aborting closes the connection, by which the daemon cancels the call. */
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  /** As it comes. Leaving it before its end closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Carries one POST to the gate and its answer. Rejects when there is no answer. */
export interface Transport {
  readonly post: (question: Question) => Promise<Reply>;
  /** Drops idle connections. */
  readonly close: () => void;
}

export interface FetchOptions {
  readonly fetch: typeof globalThis.fetch;
  /** What else the platform should know about each request. */
  readonly init?: RequestInit;
  /** Sees the head of each answer. */
  readonly onResponse?: (response: Response) => void;
}

/** For browsers, other places without node:http, and tests. An absent address is that of the page. */
export function overFetch(address: URL | undefined, { fetch, init, onResponse }: FetchOptions): Transport {
  return {
    post: async ({ path, headers, body, signal }) => {
      const response = await fetch(address === undefined ? path : new URL(path, address), {
        ...init,
        method: 'POST',
        headers,
        body,
        // A credential goes to the address that was given and nowhere else.
        redirect: 'error',
        ...(signal === undefined ? {} : { signal }),
      });
      onResponse?.(response);
      return { status: response.status, body: readBody(response.body) };
    },
    close: () => undefined,
  };
}

/** Not every browser lets a stream be iterated. */
async function* readBody(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
