import { dropUndefined } from '@sallyport/contract';
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  OAuthError,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import type { AuthProvider, FetchLike, InsufficientScopeError } from '@modelcontextprotocol/client';
import { ToolFailure } from '../../call/tool.ts';
import type { HttpEndpoint, OAuthSettings } from '../upstream-config.ts';
import { CallbackListener } from './callback-listener.ts';
import { describeLoginTrouble } from './describe-login-trouble.ts';
import { knownClient, LoginAttempt, newState } from './login-attempt.ts';
import { openLoginFetch } from './login-fetch.ts';
import type { LoginFetchOptions } from './login-fetch.ts';
import { LoginNeeded } from './login-needed.ts';
import { refreshTokens } from './refresh-tokens.ts';
import type { LoginStore, StoredLogin } from './stored-login.ts';

export interface LoginParts extends Pick<LoginFetchOptions, 'resolve'> {
  readonly logins: LoginStore;
  /** The value of a stored secret. Throws ToolFailure when there is none. */
  readonly readSecret: (name: string) => string;
  readonly version: string;
}

/** What the server said when it refused a request. */
interface Challenge {
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: URL | undefined;
}

const asServerSays: OAuthSettings = { grant: 'authorization_code', scopes: [], hosts: [] };

/**
 * The login of a person at one upstream server. Its token goes into every request; when the server no longer accepts
 * it, it is renewed once for all requests that wait. The gate asks nobody anything before a person begins a login.
 */
export class PersonLogin implements AuthProvider {
  readonly #upstream: string;
  readonly #url: URL;
  readonly #settings: OAuthSettings;
  readonly #parts: LoginParts;
  /** With which token a request was made that got this answer. */
  readonly #sent = new WeakMap<Response, string>();
  #login: StoredLogin | undefined;
  #isRead = false;
  #challenge: Challenge | undefined;
  #renewing: Promise<void> | undefined;
  #attempt: AbortController | undefined;

  constructor(upstream: string, { url, oauth = asServerSays }: HttpEndpoint, parts: LoginParts) {
    this.#upstream = upstream;
    this.#url = new URL(url);
    this.#settings = oauth;
    this.#parts = parts;
  }

  /** What a login left behind, if there was one. */
  get current(): StoredLogin | undefined {
    if (!this.#isRead) {
      const stored = this.#parts.logins.read(this.#upstream);
      this.#login = stored?.url === this.#url.href ? stored : undefined;
      this.#isRead = true;
    }
    return this.#login;
  }

  /** Notes with which token each request is made. */
  watch(fetch: FetchLike): FetchLike {
    return async (input, init) => {
      const response = await fetch(input, init);
      const token = new Headers(init?.headers).get('authorization')?.replace(/^Bearer /, '');
      if (token !== undefined) this.#sent.set(response, token);
      return response;
    };
  }

  async token(): Promise<string | undefined> {
    return this.current?.tokens.access_token;
  }

  /** Resolves when the request may be made again. Throws LoginNeeded when only a person can help. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    this.#challenge = { scope, resourceMetadataUrl };
    const login = this.current;
    if (login === undefined) throw new LoginNeeded(this.#upstream, 'needs a login');
    // Another request has renewed it meanwhile.
    if (this.#sent.get(response) !== login.tokens.access_token) return;
    this.#renewing ??= this.#renew(login).finally(() => (this.#renewing = undefined));
    await this.#renewing;
  }

  /** The login is valid, but does not cover the request. */
  noteMissingScope({ requiredScope, resourceMetadataUrl }: InsufficientScopeError): LoginNeeded {
    const scope = computeScopeUnion(this.#challenge?.scope, this.current?.tokens.scope, requiredScope);
    this.#challenge = { scope, resourceMetadataUrl };
    return new LoginNeeded(this.#upstream, `needs a login with the scopes ${requiredScope ?? 'that it needs'}`);
  }

  /**
   * Logs in. `onUrl` gets the page that the person must open; resolves when the tokens are stored. A second attempt
   * ends the first. Throws ToolFailure, or the reason of the signal.
   */
  async begin(options: { readonly signal: AbortSignal; readonly onUrl: (url: URL) => void }): Promise<void> {
    this.#attempt?.abort(new ToolFailure('CANCELLED', 'Another login at this upstream server has begun.'));
    const attempt = new AbortController();
    this.#attempt = attempt;
    const signal = AbortSignal.any([attempt.signal, options.signal]);
    try {
      await this.#logIn(signal, options.onUrl);
    } catch (error) {
      signal.throwIfAborted();
      throw describeLoginTrouble(this.#upstream, error);
    } finally {
      if (this.#attempt === attempt) this.#attempt = undefined;
    }
  }

  /** Forgets the login. The authorization server is not told. */
  async forget(): Promise<void> {
    this.close();
    this.#login = undefined;
    this.#isRead = true;
    await this.#parts.logins.remove(this.#upstream);
  }

  /** Ends an attempt that is under way. */
  close(): void {
    this.#attempt?.abort(new ToolFailure('CANCELLED', 'The login was ended.'));
  }

  async #logIn(signal: AbortSignal, onUrl: (url: URL) => void): Promise<void> {
    if (!isSafeForTokens(this.#url)) throw new Error('a token is only sent over https');
    const { clientMetadataUrl, redirectPort } = this.#settings;
    const known = knownClient(this.#settings, this.#parts.readSecret);
    const former = this.current;
    const state = newState();
    const port = redirectPort ?? (former?.client === undefined ? undefined : portOf(former.redirectUrl));
    const listener = await CallbackListener.open({ state, port, isOnlyPort: redirectPort !== undefined });
    const { fetch, close } = this.#openFetch(signal);
    let outcome: 'done' | 'failed' = 'failed';
    try {
      const { url: redirectUrl } = listener;
      const attempt = new LoginAttempt({
        ...{ redirectUrl, state, version: this.#parts.version },
        ...dropUndefined({ clientMetadataUrl, known }),
        ...(former?.client !== undefined && former.redirectUrl === redirectUrl ? { registered: former.client } : {}),
      });
      const wanted = this.#wanted(former);
      await auth(attempt, { serverUrl: this.#url, fetchFn: fetch, ...wanted });
      onUrl(checkAuthorization(attempt));
      const answer = await listener.wait(signal);
      const code = readAnswer(answer, attempt);
      const iss = answer.get('iss');
      const proof = { authorizationCode: code, ...(iss === null ? {} : { iss }) };
      await auth(attempt, { serverUrl: this.#url, fetchFn: fetch, ...wanted, ...proof });
      signal.throwIfAborted();
      const { result } = attempt;
      if (result === undefined) throw new Error('the authorization server gave no token');
      await this.#keep({ url: this.#url.href, ...result, redirectUrl, savedAtMs: Date.now() });
      this.#challenge = undefined;
      outcome = 'done';
    } finally {
      close();
      listener.close(outcome);
    }
  }

  /** The scopes that the operator chose, else those that the server named; once it wants more, all of them together. */
  #wanted(former: StoredLogin | undefined): { readonly scope?: string; readonly resourceMetadataUrl?: URL } {
    const chosen = this.#settings.scopes.join(' ') || undefined;
    const { scope: asked, resourceMetadataUrl } = this.#challenge ?? {};
    const isMore = former !== undefined && asked !== undefined;
    const scope = isMore ? computeScopeUnion(chosen, former.tokens.scope, asked) : (chosen ?? asked);
    return {
      ...dropUndefined({ scope, resourceMetadataUrl }),
    };
  }

  async #renew(login: StoredLogin): Promise<void> {
    const { refresh_token: refreshToken, issuer } = login.tokens;
    if (refreshToken === undefined) throw new LoginNeeded(this.#upstream, 'no longer accepts the login');
    const known = knownClient(this.#settings, this.#parts.readSecret);
    const client = known?.client ?? login.client;
    if (client === undefined) throw new LoginNeeded(this.#upstream, 'no longer accepts the login');
    const { fetch, close } = this.#openFetch();
    try {
      const tokens = await refreshTokens({
        ...{ url: this.#url, fetch, client, refreshToken, issuer },
        resourceMetadataUrl: this.#challenge?.resourceMetadataUrl,
        addClientAuthentication: known?.addClientAuthentication,
      });
      if (tokens === undefined) throw new LoginNeeded(this.#upstream, 'has another authorization server now');
      await this.#keep({ ...login, tokens: { ...login.tokens, ...tokens }, savedAtMs: Date.now() });
    } catch (error) {
      if (error instanceof OAuthError && isFinal(error)) {
        throw new LoginNeeded(this.#upstream, 'no longer accepts the login');
      }
      throw describeLoginTrouble(this.#upstream, error);
    } finally {
      close();
    }
  }

  /** The new token is used only when it is on disk, because the old one may no longer be valid. */
  async #keep(login: StoredLogin): Promise<void> {
    await this.#parts.logins.save(this.#upstream, login);
    this.#login = login;
    this.#isRead = true;
  }

  #openFetch(signal?: AbortSignal): ReturnType<typeof openLoginFetch> {
    const { resolve } = this.#parts;
    return openLoginFetch({
      url: this.#url,
      hosts: this.#settings.hosts,
      ...dropUndefined({ signal, resolve }),
    });
  }
}

/** A person opens the address, so it must lead to a page of an authorization server and nowhere else. */
function checkAuthorization(attempt: LoginAttempt): URL {
  const { authorizationUrl: url } = attempt;
  const metadata = attempt.discoveryState()?.authorizationServerMetadata;
  // Without it the gate could not tell who answers.
  if (metadata === undefined) throw new Error('the authorization server publishes no metadata');
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true) {
    throw new Error('the authorization server does not protect its codes (PKCE with S256)');
  }
  if (url === undefined || !isSafeForTokens(url) || url.username !== '' || url.password !== '') {
    throw new Error('the authorization server has no page that can be opened safely');
  }
  return url;
}

/** The code. An error counts only if it comes from the server that was asked, and only its code is shown. */
function readAnswer(answer: URLSearchParams, attempt: LoginAttempt): string {
  const code = answer.get('code');
  if (code !== null && code !== '') return code;
  const metadata = attempt.discoveryState()?.authorizationServerMetadata;
  validateAuthorizationResponseIssuer({
    iss: answer.get('iss') ?? undefined,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.['authorization_response_iss_parameter_supported'] === true,
  });
  throw new OAuthError(answer.get('error') ?? '', '');
}

const final = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope', 'access_denied']);

function isFinal({ code }: OAuthError): boolean {
  return final.has(code);
}

function isSafeForTokens({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname));
}

function portOf(url: string): number | undefined {
  const port = Number(URL.parse(url)?.port ?? '');
  return port > 0 ? port : undefined;
}
