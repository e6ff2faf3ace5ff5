import { discoverOAuthServerInfo } from '@modelcontextprotocol/client';
import { Sweeps } from '../../../packages/gateway/src/programs/leavings/sweeps.ts';
import type { Json, JsonObject } from '@sallyport/contract';
import { LoginHostRefused } from '../../../packages/gateway/src/upstreams/login/login-fetch.ts';
import { LoginNeeded } from '../../../packages/gateway/src/upstreams/login/login-needed.ts';
import type { Verdict } from '../../../packages/gateway/src/call/verdict.ts';
import type { StoredLogin } from '../../../packages/gateway/src/upstreams/login/stored-login.ts';
import type { OAuthSettings } from '../../../packages/gateway/src/upstreams/upstream-config.ts';
import { Upstream } from '../../../packages/gateway/src/upstreams/upstream.ts';
import { ownText } from '../../../packages/gateway/src/call/redacted.ts';

/** What the suite asks of a client in one scenario. */
export interface Assignment {
  readonly url: string;
  readonly scenario: string;
  readonly context: Asked;
}

interface Asked {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: 'ES256';
  readonly issuer?: string;
}

const mostLogins = 3;

/**
 * What the official suite drives as a client: the gate's own connection to an upstream server. It lists the tools and
 * calls each of them, as the suite asks or else with anything that fits. Whenever the gate says what an operator or a
 * person at a browser has to do, that is done. Rejects where a program would end with an error.
 */
export async function runConformanceClient(
  { url, scenario, context: asked }: Assignment,
  tell: (text: string) => void,
): Promise<void> {
  const logins = new Map<string, StoredLogin>();
  let loginsLeft = mostLogins;
  let upstream = openUpstream(await chooseSettings([]));
  try {
    await callEverything();
  } finally {
    await upstream.close();
  }

  async function callEverything(): Promise<void> {
    await withPeople(() => upstream.connect());
    const tools = upstream.offers?.tools ?? [];
    const calls =
      asked.toolCalls ?? tools.map(({ name, inputSchema }) => ({ name, arguments: sample(inputSchema, tools) }));
    for (const { name, arguments: args } of calls) {
      try {
        await withPeople(() =>
          upstream.call(name, args, {
            signal: AbortSignal.timeout(20_000),
            timeoutMs: 20_000,
            onProgress: () => undefined,
            confirm: () => undefined,
            onNetwork: () => undefined,
            onWithheld: () => undefined,
            onUsage: () => undefined,
            asking: { judge: allow, askCaller: async () => ({ action: 'accept', content: {} }) },
          }),
        );
      } catch (error) {
        tell(`${name}: ${String(error)}`);
      }
    }
  }

  function openUpstream(oauth: OAuthSettings): Upstream {
    const notHere = (): never => {
      throw new Error('only servers that run elsewhere are tested');
    };
    const secrets: Record<string, string | undefined> = { SECRET: asked.client_secret, KEY: asked.private_key_pem };
    return new Upstream(
      {
        ...{ name: 'suite', file: 'suite.yaml', endpoint: { kind: 'http', url, oauth }, assigned: new Map() },
        ...{ mayAsk: ['elicitation'], idleMs: 60_000 },
      },
      {
        version: '1.0.0',
        redact: ownText,
        programs: { open: notHere },
        packages: { place: notHere },
        logs: { open: notHere },
        readSecret: (name) => secrets[name] ?? notHere(),
        learn: () => undefined,
        logins: {
          read: (name) => logins.get(name),
          save: async (name, login) => void logins.set(name, login),
          remove: async (name) => void logins.delete(name),
        },
        protectedPaths: { explain: () => undefined },
        onTools: () => undefined,
        onRequest: ({ method, decision, reason }) => tell(`${decision} ${method}: ${reason}`),
        judgeRequest: allow,
        onTrouble: (_name, reason) => tell(reason),
        onNetwork: () => undefined,
        onWithheld: () => undefined,
        sweeps: new Sweeps(),
        leavings: notHere,
        onLoginLost: (_name, reason) => tell(reason),
      },
    );
  }

  /** What an operator would write into the file of the upstream. */
  async function chooseSettings(hosts: readonly string[]): Promise<OAuthSettings> {
    const { client_id: clientId, issuer = '' } = asked;
    if (clientId === undefined) {
      const clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';
      return { grant: 'authorization_code', scopes: [], hosts, clientMetadataUrl };
    }
    const isMachine = scenario.startsWith('auth/client-credentials');
    return {
      grant: isMachine ? 'client_credentials' : 'authorization_code',
      issuer: isMachine ? (await discoverOAuthServerInfo(url)).authorizationServerUrl : issuer,
      clientId,
      ...(asked.client_secret === undefined ? {} : { clientSecret: 'SECRET' }),
      ...(asked.private_key_pem === undefined ? {} : { privateKey: { secret: 'KEY', algorithm: 'ES256' } }),
      scopes: [],
      hosts,
    };
  }

  async function withPeople<Result>(run: () => Promise<Result>): Promise<Result> {
    for (const hosts: string[] = []; ;) {
      try {
        return await run();
      } catch (error) {
        if (error instanceof LoginNeeded && loginsLeft-- > 0) {
          try {
            await upstream.logIn({ signal: AbortSignal.timeout(20_000), onUrl: (page) => void agree(page) });
          } catch (failure) {
            if (!(failure instanceof LoginNeeded)) await nameHost(failure, hosts);
          }
        } else await nameHost(error, hosts);
      }
    }
  }

  /** The authorization server of the suite runs on this machine, which an operator has to say. Throws anything else. */
  async function nameHost(failure: unknown, hosts: string[]): Promise<void> {
    const { cause } = failure as Error;
    if (!(cause instanceof LoginHostRefused) || hosts.includes(cause.authority)) throw failure;
    hosts.push(cause.authority);
    await upstream.close();
    upstream = openUpstream(await chooseSettings(hosts));
    loginsLeft++;
  }
}

/** A rule that lets the server ask, and a client whose person agrees to everything. */
function allow(): Verdict {
  return { effect: 'allow', rule: { id: 'suite' }, reason: '' };
}

/** The person: opens the page, which sends the browser back at once. */
async function agree(page: URL): Promise<void> {
  const answer = await fetch(page, { redirect: 'manual' });
  await fetch(answer.headers.get('location') ?? '');
}

function sample(
  { properties = {} }: { readonly properties?: object | undefined },
  tools: readonly { readonly inputSchema: object }[],
): JsonObject {
  // One tool of the suite wants to see how the schema of another arrived.
  if (Object.keys(properties).join() === 'schema') return { schema: tools[0]?.inputSchema as JsonObject };
  const values: Record<string, Json> = { string: 'text', number: 3, integer: 3, boolean: true, array: [], object: {} };
  return Object.fromEntries(
    Object.entries(properties as Record<string, { readonly type?: string }>).map(([name, { type = 'string' }]) => [
      name,
      values[type] ?? 'text',
    ]),
  );
}
