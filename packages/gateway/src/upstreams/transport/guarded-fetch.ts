import type { LookupOptions } from 'node:dns';
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchLike } from '@modelcontextprotocol/client';
import { ToolFailure } from '../../call/tool.ts';
import { checkHost, parseHostPattern, resolveChecked } from '@sallyport/sandbox';
import type { Resolve } from '@sallyport/sandbox';
import { maxMessageBytes, MessageMeter } from './message-meter.ts';

const bodyless = new Set([101, 204, 205, 304]);
const mostSockets = 32;

export interface GuardedFetch {
  readonly fetch: FetchLike;
  /** Ends what is under way. */
  readonly close: () => void;
}

export interface GuardOptions {
  /** An answer broke off for good or became too large: callers should no longer wait for it. */
  readonly onBroken: (error: Error) => void;
  /** The largest message. Absent: the usual limit. */
  readonly maxBytes?: number;
  /** For tests. Absent: as every program of this machine. */
  readonly resolve?: Resolve;
}

/** How often a broken stream is requested again before its callers get an error. */
export const mostResumptions = 4;

/**
 * Requests to one origin and nothing else. A name leads to public addresses only; to reach a machine in the own
 * network, the URL must have its address. No redirect is followed, and no message may be larger than the limit.
 *
 * A stream whose events have ids can be resumed: its reader asks for the rest.
 */
export function guardFetch(url: URL, { onBroken, resolve, maxBytes = maxMessageBytes }: GuardOptions): GuardedFetch {
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  const authority = `${url.hostname}:${port}`;
  const target = checkHost(authority, [parseHostPattern(authority)]);
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: mostSockets });
  const meter = new MessageMeter();
  let failedResumptions = 0;
  const noteResumption = (failure: Error | undefined, isFinal: boolean): void => {
    failedResumptions = failure === undefined ? 0 : failedResumptions + 1;
    if (failure !== undefined && (isFinal || failedResumptions >= mostResumptions)) onBroken(failure);
  };
  const answer = async (options: LookupOptions, callback: Parameters<LookupFunction>[2]): Promise<void> => {
    try {
      const addresses = await resolveChecked(target, resolve);
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      if (options.all === true) callback(null, found);
      else callback(null, found[0]?.address ?? '', found[0]?.family ?? 4);
    } catch (error) {
      callback(error as NodeJS.ErrnoException, '', 4);
    }
  };
  const lookup: LookupFunction = (_name, options, callback) => void answer(options, callback);
  const fetch: FetchLike = async (input, init = {}) => {
    const wanted = new URL(input);
    if (wanted.origin !== url.origin) throw new Error(`the server may only be asked at ${url.origin}`);
    const options: RequestOptions = {
      agent,
      lookup,
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.signal ? { signal: init.signal } : {}),
    };
    const isResumption = new Headers(init.headers).has('last-event-id');
    const response = await send(wanted, options, bodyOf(init)).catch((error: unknown) => {
      if (isResumption && !init.signal?.aborted) noteResumption(error as Error, false);
      throw error;
    });
    const { statusCode: status = 502, headers } = response;
    if (isResumption)
      noteResumption(status < 300 ? undefined : new Error(`the rest of an answer is gone (${status})`), status !== 401);
    if (bodyless.has(status)) {
      response.resume();
      return new Response(null, { status, headers: flatten(headers) });
    }
    const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
    const bytes = limitBody(response, {
      isStream,
      maxBytes,
      meter,
      onBroken: (error) => init.signal?.aborted || onBroken(error),
    });
    return new Response(Readable.toWeb(Readable.from(bytes)) as ReadableStream, { status, headers: flatten(headers) });
  };
  return { fetch, close: () => agent.destroy() };
}

function bodyOf({ body }: RequestInit): string | undefined {
  return typeof body === 'string' || body instanceof URLSearchParams ? String(body) : undefined;
}

function send(url: URL, options: RequestOptions, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve);
    request.once('error', reject);
    request.end(body);
  });
}

/** `isStream`: a line, and not all of it, may have the size of a message. */
async function* limitBody(
  response: IncomingMessage,
  limits: {
    readonly isStream: boolean;
    readonly maxBytes: number;
    readonly meter: MessageMeter;
    readonly onBroken: (error: Error) => void;
  },
): AsyncGenerator<Uint8Array> {
  let heldBytes = 0;
  let isResumable = false;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const lastEnd = limits.isStream ? chunk.lastIndexOf(0x0a) : -1;
      heldBytes = lastEnd < 0 ? heldBytes + chunk.length : chunk.length - lastEnd - 1;
      if (heldBytes > limits.maxBytes) {
        const limit = `larger than ${limits.maxBytes / 1024 / 1024} MB`;
        throw new ToolFailure('TOO_LARGE', `The upstream server sent an answer ${limit}.`);
      }
      isResumable ||= limits.isStream && hasEventId(chunk);
      const pauseMs = limits.meter.charge({ messages: limits.isStream ? countEvents(chunk) : 1, bytes: chunk.length });
      if (pauseMs > 0) await sleep(pauseMs, undefined, { ref: false });
      yield chunk;
    }
  } catch (error) {
    const broken = error instanceof Error ? error : new Error(String(error));
    if (!isResumable || broken instanceof ToolFailure) limits.onBroken(broken);
    throw broken;
  } finally {
    response.destroy();
  }
}

/** Every event ends in an empty line. */
function countEvents(chunk: Buffer): number {
  let events = 0;
  for (let at = chunk.indexOf('\n\n'); at >= 0; at = chunk.indexOf('\n\n', at + 2)) events += 1;
  return events;
}

/** Whether an event of the chunk has an id. An id that was cut in two does not count, which is the safe side. */
function hasEventId(chunk: Buffer): boolean {
  return /(?:^|\n)id: ?[^\n]/.test(chunk.toString('latin1'));
}

function flatten(headers: IncomingMessage['headers']): Headers {
  const flat = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) flat.append(name, each);
  }
  return flat;
}
