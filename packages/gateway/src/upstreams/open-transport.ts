import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/client';
import type { ProgramOpener } from '../model/program.ts';
import { buildServerProgram } from './build-server-program.ts';
import type { ServerView } from './build-server-program.ts';
import { guardFetch } from './guarded-fetch.ts';
import { ProgramTransport } from './program-transport.ts';
import type { HttpEndpoint, UpstreamConfig } from './upstream-config.ts';

/** A way to one server, not yet started. */
export interface UpstreamTransport {
  readonly transport: Transport;
  /** Why it closed or should be closed, as far as it is known. */
  readonly failure: () => Error | undefined;
  /** Ends everything about it. Resolves when nothing of it is left. */
  readonly close: () => Promise<void>;
}

export interface TransportParts extends ServerView {
  readonly programs: ProgramOpener;
  /** The value of a stored secret. Throws ToolFailure when there is none. */
  readonly readSecret: (name: string) => string;
}

/** `onBroken`: those who wait for an answer should not wait on. */
export async function openTransport(
  { name, endpoint }: UpstreamConfig,
  parts: TransportParts,
  options: { readonly signal: AbortSignal; readonly onBroken: () => void },
): Promise<UpstreamTransport> {
  if (endpoint.kind === 'http') return openHttp(endpoint, parts, options.onBroken);
  const secrets = Object.fromEntries(endpoint.secrets.map((secret) => [secret, parts.readSecret(secret)]));
  const { program, setAside } = await buildServerProgram(endpoint, { view: parts, secrets, signal: options.signal });
  const transport = new ProgramTransport(program, parts.programs);
  const close = async (): Promise<void> => {
    await transport.close();
    await setAside(name);
  };
  return { transport, failure: () => transport.failure, close };
}

function openHttp(endpoint: HttpEndpoint, { readSecret }: TransportParts, onBroken: () => void): UpstreamTransport {
  const url = new URL(endpoint.url);
  let failure: Error | undefined;
  const guarded = guardFetch(url, {
    onBroken: (error) => {
      failure ??= error;
      onBroken();
    },
  });
  const { bearerSecret } = endpoint;
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: guarded.fetch,
    ...(bearerSecret === undefined ? {} : { authProvider: { token: async () => readSecret(bearerSecret) } }),
  });
  const close = async (): Promise<void> => {
    await transport.close();
    guarded.close();
  };
  return { transport, failure: () => failure, close };
}
