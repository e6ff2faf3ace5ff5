import { hash, randomUUIDv7 } from 'node:crypto';
import type { JsonObject } from '@sallyport/contract';
import type { AttemptCounter } from '../../audit/attempt-counter.ts';
import { ownJson } from '../../call/redacted.ts';
import type { Session } from '../../call/session.ts';
import type { Store } from '../../storage/stores.ts';
import type { LoginCodes } from '../../console/login-codes.ts';
import { newToken } from '../../sessions/tools/sessions.ts';
import type { HttpRequest, HttpResponse, HttpRoute } from '../transport/http-route.ts';
import type { Peer } from '../transport/peer.ts';
import { RpcError } from '../transport/rpc-error.ts';
import { checkCaller } from '../check-caller.ts';

export interface LoginParts {
  readonly codes: LoginCodes;
  readonly store: Pick<Store, 'append' | 'createSession' | 'endSession' | 'findSession' | 'findSessionByToken'>;
  /** Attempts to guess a code are recorded, but cannot fill the log. */
  readonly attempts: Pick<AttemptCounter, 'isFirst'>;
  /** Keeps the token out of every text. */
  readonly learn: (token: string) => void;
}

const sessionMs = 12 * 3_600_000;
const maxBytes = 1024;

/** From a code on an operator's terminal to a session of that person in a browser, and out again. */
export function loginRoutes(parts: LoginParts): readonly HttpRoute[] {
  return [
    {
      method: 'POST',
      path: '/console/login',
      doors: ['tcp'],
      handle: async (request, response, peer) => {
        const code = await readCode(request, peer);
        send(response, await logIn(parts, code, peer.source));
      },
    },
    {
      method: 'POST',
      path: '/console/logout',
      doors: ['tcp'],
      handle: async (_request, response, peer) => {
        const session = checkCaller(parts.store, peer);
        // The other sessions of people are their credentials, which they would lose for good.
        const isConsole = session.principal === 'operator' && session.door !== undefined;
        if (!isConsole) throw new RpcError('permission_denied', 'This is for consoles.');
        await record(parts.store, 'console_logout', session);
        await parts.store.endSession(session.id);
        send(response, {});
      },
    },
  ];
}

async function logIn({ codes, store, attempts, learn }: LoginParts, code: string, source: string): Promise<JsonObject> {
  const nowMs = Date.now();
  const personId = codes.redeem(code, nowMs);
  const person = personId === undefined ? undefined : store.findSession(personId);
  // Also a person whose credential was taken away since the link was made.
  if (person?.status !== 'active') {
    if (attempts.isFirst(source, nowMs)) {
      const payload = ownJson({ event: 'console_login_refused', source });
      await store.append({ kind: 'event', result: 'denied', timeMs: nowMs, payload });
    }
    throw new RpcError('unauthenticated', 'The link was used before or is too old. Run `sallyport console` again.');
  }
  const token = newToken();
  learn(token);
  const { agent, workingDirectory } = person;
  const id = randomUUIDv7();
  const expiresAtMs = nowMs + sessionMs;
  // On record before it is worth anything.
  await record(store, 'console_login', { id, agent });
  await store.createSession({
    id,
    principal: 'operator',
    agent,
    tokenSha256: hash('sha256', token),
    createdAtMs: nowMs,
    door: 'tcp',
    expiresAtMs,
    workingDirectory,
    lease: { id: randomUUIDv7(), tools: ['*'] },
  });
  // If the person's credential was revoked meanwhile, this session did not exist yet and must end now.
  if (store.findSession(person.id)?.status !== 'active') await store.endSession(id);
  return { token, person: agent, sessionId: id, expiresAtMs };
}

async function record(
  store: Pick<Store, 'append'>,
  event: 'console_login' | 'console_logout',
  { id: sessionId, agent }: Pick<Session, 'id' | 'agent'>,
): Promise<void> {
  const payload = ownJson({ event, agent, door: 'tcp' });
  await store.append({ kind: 'event', result: 'none', timeMs: Date.now(), sessionId, payload });
}

async function readCode(request: HttpRequest, peer: Peer): Promise<string> {
  const { 'content-type': type = '', 'content-length': contentLength } = request.headers;
  // A form of another page cannot send this type.
  if (type !== 'application/json') throw new RpcError('invalid_argument', 'The content type must be application/json.');
  const text = (await peer.readBody(request, { maxBytes, contentLength })).toString();
  try {
    const { code } = JSON.parse(text) as { code?: unknown };
    if (typeof code === 'string') return code;
  } catch {
    // Told below.
  }
  throw new RpcError('invalid_argument', 'The body must be a JSON object with a code.');
}

function send(response: HttpResponse, body: JsonObject): void {
  const text = JSON.stringify(body);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
