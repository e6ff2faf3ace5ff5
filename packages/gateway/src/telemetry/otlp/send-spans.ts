import { Agent, request as requestHttp } from 'node:http';
import { Agent as SecureAgent, request as requestHttps } from 'node:https';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { attributesOf } from './call-span.ts';
import type { Span } from './call-span.ts';
import type { TraceSettings } from './read-settings.ts';

/** How the receiver took some spans. `retry`: it may take them later, not before `afterMs`. */
export type Sent =
  | { readonly how: 'taken'; readonly rejected: number }
  | { readonly how: 'retry'; readonly why: string; readonly afterMs: number }
  | { readonly how: 'refused'; readonly why: string };

export interface SpanSender {
  /** Never rejects. */
  readonly send: (spans: readonly Span[]) => Promise<Sent>;
  readonly close: () => void;
}

const compress = promisify(gzip);
const mostAnswerBytes = 64 * 1024;
const longestRetryMs = 5 * 60_000;
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** OTLP over HTTP, as JSON. One connection is kept. No redirect is followed: nobody said that spans may go elsewhere. */
export function openSender(settings: TraceSettings, version: string): SpanSender {
  const isSecure = settings.endpoint.protocol === 'https:';
  const agent = isSecure
    ? new SecureAgent({ keepAlive: true, maxSockets: 1, ...settings.tls })
    : new Agent({ keepAlive: true, maxSockets: 1 });
  const resource = {
    attributes: attributesOf({
      'telemetry.sdk.name': 'sallyport',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': version,
      'service.version': version,
      ...settings.resource,
    }),
  };
  const scope = { name: 'sallyport', version };
  return {
    send: async (spans) => {
      try {
        const resourceSpans = spans.length === 0 ? [] : [{ resource, scopeSpans: [{ scope, spans }] }];
        const json = Buffer.from(JSON.stringify({ resourceSpans }));
        const body = settings.isCompressed ? await compress(json) : json;
        return await post(settings, { agent, body, version });
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        return { how: 'retry', why: code ?? message, afterMs: 0 };
      }
    },
    close: () => agent.destroy(),
  };
}

function post(
  { endpoint, headers, timeoutMs, isCompressed }: TraceSettings,
  { agent, body, version }: { readonly agent: Agent; readonly body: Buffer; readonly version: string },
): Promise<Sent> {
  const send = endpoint.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const late = (): void => reject(new Error(`no answer within ${timeoutMs} ms`));
    signal.addEventListener('abort', late);
    const outgoing = send(endpoint, {
      method: 'POST',
      agent,
      signal,
      headers: {
        'user-agent': `Sallyport/${version}`,
        'content-type': 'application/json',
        ...headers,
        'content-length': body.length,
        ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
      },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on('error', reject);
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > mostAnswerBytes) answer.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      answer.on('end', () => {
        signal.removeEventListener('abort', late);
        resolve(readAnswer(answer.statusCode ?? 0, answer.headers['retry-after'], Buffer.concat(chunks)));
      });
    });
    outgoing.end(body);
  });
}

/** Nothing of what the receiver says is repeated but numbers. */
function readAnswer(status: number, retryAfter: string | undefined, body: Buffer): Sent {
  if (status >= 200 && status < 300) return { how: 'taken', rejected: readRejected(body) };
  const why = `the receiver answered ${status}`;
  if (!retryable.has(status)) return { how: 'refused', why };
  const afterMs = Math.min(longestRetryMs, Math.max(0, Number(retryAfter) * 1000 || 0));
  return { how: 'retry', why, afterMs };
}

function readRejected(body: Buffer): number {
  try {
    const { partialSuccess } = JSON.parse(body.toString()) as { partialSuccess?: { rejectedSpans?: unknown } };
    const rejected = Number(partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    // An answer in another form than the request is of no use here, and no error either.
    return 0;
  }
}
