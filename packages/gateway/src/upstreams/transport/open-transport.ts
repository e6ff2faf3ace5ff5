import { randomBytes } from 'node:crypto';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FetchLike, StreamableHTTPClientTransportOptions, Transport } from '@modelcontextprotocol/client';
import type { Withheld } from '../../programs/leavings/set-aside-forbidden.ts';
import type { NetworkEvent, OpenProgram, ProgramOpener } from '@sallyport/sandbox';
import type { Redacted, RedactText } from '../../call/redacted.ts';
import { buildServerProgram } from './build-server-program.ts';
import type { ServerView } from './build-server-program.ts';
import { guardFetch, mostResumptions } from './guarded-fetch.ts';
import { openLoginFetch } from '../login/login-fetch.ts';
import { machineLogin } from '../login/machine-login.ts';
import type { PersonLogin } from '../login/person-login.ts';
import type { PackageStore } from '../package-store.ts';
import type { PlainCalls } from '../plain-calls.ts';
import { ProgramTransport } from './program-transport.ts';
import { ServerEnded } from './server-ended.ts';
import type { ServerLogs } from '../server-logs.ts';
import type { HttpEndpoint, UpstreamConfig } from '../upstream-config.ts';

/** A transport to one server, not yet started. */
export interface UpstreamTransport {
  readonly transport: Transport;
  /** Calls of tools that need nothing of the SDK. Absent: the SDK makes all of them. */
  readonly calls?: PlainCalls;
  /** Why it closed or should be closed, as far as it is known. */
  readonly failure: () => Error | undefined;
  /** Sets aside what the server must not leave behind, while it runs. */
  readonly sweep: () => Promise<void>;
  /** What the server has used until now. Empty: that cannot be measured, as of a server elsewhere. */
  readonly measure: OpenProgram['measure'];
  /** Ends everything about it. Resolves when nothing of it is left. */
  readonly close: () => Promise<void>;
}

export interface TransportParts extends ServerView {
  readonly programs: ProgramOpener;
  readonly packages: Pick<PackageStore, 'place'>;
  readonly logs: Pick<ServerLogs, 'open'>;
  /** The value of a stored secret. Throws ToolFailure when there is none. */
  readonly readSecret: (name: string) => string;
  readonly redact: RedactText;
  /** Gets secrets that came from elsewhere; they are redacted from then on. */
  readonly learn: (secret: string) => void;
}

export interface TransportOptions {
  readonly signal: AbortSignal;
  /** Callers should no longer wait for an answer. */
  readonly onBroken: () => void;
  /** Gets the connections that a server in the sandbox requests. */
  readonly onNetwork: (events: readonly NetworkEvent[]) => void;
  /** What the server left under names that the rules forbid was renamed, or could not be. */
  readonly onWithheld: (withheld: Withheld) => void;
  /** The server would see its folders differently if it started now, and other programs may wait for it. */
  readonly onOutdated: () => void;
  /** Absent: the server has no person's login. */
  readonly login?: PersonLogin;
}

const sweepEveryMs = 10_000;

const reconnection = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 10_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: mostResumptions,
};
/** Bounds for what the server says: a server that ends its streams at once would keep the daemon busy. */
const [shortestDelayMs, longestDelayMs] = [250, 30_000];

export async function openTransport(
  { name, endpoint }: UpstreamConfig,
  parts: TransportParts,
  options: TransportOptions,
): Promise<UpstreamTransport> {
  if (endpoint.kind === 'http') return openHttp(endpoint, parts, options);
  const secrets = Object.fromEntries(endpoint.secrets.map((secret) => [secret, parts.readSecret(secret)]));
  const { program, attend } = await buildServerProgram(endpoint, {
    ...{ view: parts, packages: parts.packages, secrets },
    signal: options.signal,
  });
  const attendance = await attend(`${name}-${randomBytes(3).toString('hex')}`, options.onOutdated);
  const log = parts.logs.open(name);
  const transport = new ProgramTransport(program, parts.programs, {
    redact: parts.redact,
    onNetwork: options.onNetwork,
    onStderr: log.add,
  });
  const tell = (withheld: Withheld): void => {
    if (withheld.count + withheld.stuck.length > 0) options.onWithheld(withheld);
  };
  const sweep = async (): Promise<void> => tell(await attendance.sweep());
  // A server works between calls too.
  const sweeping = setInterval(() => void sweep().catch(() => undefined), sweepEveryMs).unref();
  let closing: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await transport.close();
    clearInterval(sweeping);
    log.end(transport.failure === undefined ? undefined : describeFailure(transport.failure, parts.redact));
    tell(await attendance.finish());
  };
  return {
    ...{ transport, calls: transport.calls, sweep },
    failure: () => transport.failure,
    measure: () => transport.measure(),
    close: () => (closing ??= end()),
  };
}

/** What it wrote itself is in the log already. */
function describeFailure(failure: Error, redact: RedactText): Redacted {
  return redact(failure instanceof ServerEnded ? failure.ending : failure.message);
}

/** Read for each request, so that a changed secret is used from the next one on. */
function addHeaders(
  fetch: FetchLike,
  secretHeaders: Readonly<Record<string, string>>,
  { readSecret }: Pick<TransportParts, 'readSecret'>,
): FetchLike {
  const named = Object.entries(secretHeaders);
  if (named.length === 0) return fetch;
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    for (const [header, secret] of named) headers.set(header, readSecret(secret));
    return fetch(input, { ...init, headers });
  };
}

function openHttp(
  endpoint: HttpEndpoint,
  parts: TransportParts,
  { onBroken, login }: TransportOptions,
): UpstreamTransport {
  const url = new URL(endpoint.url);
  let failure: Error | undefined;
  const { bearerSecret, oauth, secretHeaders = {} } = endpoint;
  const plain = guardFetch(url, {
    onBroken: (error) => {
      failure ??= error;
      onBroken();
    },
  });
  const guarded = { close: plain.close, fetch: addHeaders(plain.fetch, secretHeaders, parts) };
  const ends: (() => void)[] = [guarded.close];
  const authenticate = (): Pick<StreamableHTTPClientTransportOptions, 'fetch' | 'authProvider'> => {
    if (bearerSecret !== undefined) {
      return { fetch: guarded.fetch, authProvider: { token: async () => parts.readSecret(bearerSecret) } };
    }
    if (oauth?.grant !== 'client_credentials') {
      return login === undefined
        ? { fetch: guarded.fetch }
        : { fetch: login.watch(guarded.fetch), authProvider: login };
    }
    const elsewhere = openLoginFetch({ url, hosts: oauth.hosts });
    ends.push(elsewhere.close);
    const fetch: FetchLike = (input, init) => (String(input) === url.href ? guarded : elsewhere).fetch(input, init);
    return { fetch, authProvider: machineLogin(oauth, parts) };
  };
  const transport = new StreamableHTTPClientTransport(url, {
    ...authenticate(),
    reconnectionOptions: reconnection,
    reconnectionScheduler: (reconnect, delayMs) => {
      const timer = setTimeout(reconnect, Math.min(Math.max(delayMs, shortestDelayMs), longestDelayMs)).unref();
      return () => clearTimeout(timer);
    },
  });
  const close = async (): Promise<void> => {
    await transport.close();
    for (const end of ends) end();
  };
  return {
    ...{ transport, close },
    failure: () => failure,
    sweep: () => Promise.resolve(),
    measure: () => Promise.resolve({}),
  };
}
