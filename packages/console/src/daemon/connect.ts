import { currentCredential, keepCredential } from './credential.ts';
import { FrameReader, frameText } from './frames.ts';

/** The daemon did not take a request, or cannot be reached. */
export class DaemonError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** How far the clock of the daemon is ahead of ours. Only told when it is more than the resolution of the header. */
let aheadMs = 0;

export function daemonNowMs(): number {
  return Date.now() + aheadMs;
}

/** One unary call of the Connect protocol. */
export async function post<Answer>(method: string, message: object = {}): Promise<Answer> {
  const response = await send(`/sallyport.v1.${method}`, 'application/json', JSON.stringify(message));
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw errorOf(answer, `The daemon answered ${response.status}.`);
  return answer as Answer;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** The daemon has taken the request. */
  readonly onOpen: () => void;
}

/** One server-streaming call. Ends when the daemon ends it; throws when it does so with an error or is gone. */
export async function* stream<Message>(
  method: string,
  message: object,
  { signal, onOpen }: StreamOptions,
): AsyncGenerator<Message, void, undefined> {
  const path = `/sallyport.v1.${method}`;
  const response = await send(path, 'application/connect+json', frameText(JSON.stringify(message)), signal);
  if (!response.ok || response.body === null) {
    throw errorOf(await response.json().catch(() => undefined), `The daemon answered ${response.status}.`);
  }
  onOpen();
  const frames = new FrameReader();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new DaemonError('unavailable', error instanceof Error ? error.message : 'The connection broke.');
      });
      if (done) return;
      for (const { isLast, text } of frames.read(value)) {
        const content = JSON.parse(text) as { error?: unknown };
        if (!isLast) yield content as Message;
        else if (content.error !== undefined) throw errorOf(content.error, 'The stream ended.');
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** For the two paths that are no RPC. */
export async function postConsole<Answer>(
  path: '/console/login' | '/console/logout',
  message: object,
): Promise<Answer> {
  const response = await send(path, 'application/json', JSON.stringify(message));
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw errorOf(answer, `The daemon answered ${response.status}.`);
  return answer as Answer;
}

async function send(
  path: string,
  type: string,
  body: string | Uint8Array<ArrayBuffer>,
  signal?: AbortSignal,
): Promise<Response> {
  const { token } = currentCredential() ?? {};
  const headers: Record<string, string> = { 'content-type': type };
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers,
      body,
      cache: 'no-store',
      credentials: 'omit',
      ...(signal === undefined ? {} : { signal }),
    });
    noteClock(response);
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new DaemonError('unavailable', 'The daemon cannot be reached.');
  }
}

function noteClock(response: Response): void {
  const theirs = Date.parse(response.headers.get('date') ?? '');
  const difference = theirs - Date.now();
  aheadMs = Number.isNaN(difference) || Math.abs(difference) < 2000 ? 0 : difference;
}

function errorOf(answer: unknown, otherwise: string): DaemonError {
  const { code, message } = (answer ?? {}) as { code?: unknown; message?: unknown };
  const error = new DaemonError(
    typeof code === 'string' ? code : 'unknown',
    typeof message === 'string' && message !== '' ? message : otherwise,
  );
  // The session was ended, or its time is over: from here on only a new link helps.
  if (error.code === 'unauthenticated') keepCredential(undefined);
  return error;
}
