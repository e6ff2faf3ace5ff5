import { createPrivateKeyJwtAuth } from '@modelcontextprotocol/client';
import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { randomBytes } from 'node:crypto';
import type { OAuthSettings } from '../upstream-config.ts';

/** A client that the file of the upstream names, and how it authenticates. */
export interface KnownClient {
  readonly client: StoredOAuthClientInformation;
  readonly addClientAuthentication?: AddClientAuthentication;
}

/** Undefined: the file names none. */
export function knownClient(
  { clientId, issuer, clientSecret, privateKey }: OAuthSettings,
  readSecret: (name: string) => string,
): KnownClient | undefined {
  if (clientId === undefined) return undefined;
  const client: StoredOAuthClientInformation = {
    client_id: clientId,
    ...(issuer === undefined ? {} : { issuer }),
    ...(clientSecret === undefined ? {} : { client_secret: readSecret(clientSecret) }),
  };
  if (privateKey === undefined) return { client };
  const signing = { issuer: clientId, subject: clientId, alg: privateKey.algorithm };
  return {
    client,
    addClientAuthentication: createPrivateKeyJwtAuth({ ...signing, privateKey: readSecret(privateKey.secret) }),
  };
}

export interface AttemptOptions {
  readonly redirectUrl: string;
  readonly version: string;
  readonly state: string;
  readonly clientMetadataUrl?: string;
  readonly known?: KnownClient;
  /** As it was registered with this redirect URL. Absent: it is to be registered. */
  readonly registered?: StoredOAuthClientInformation;
}

export function newState(): string {
  return randomBytes(32).toString('base64url');
}

/** One login of a person, from the first request to the tokens. Nothing of it outlives the attempt. */
export class LoginAttempt implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly clientMetadataUrl?: string;
  readonly addClientAuthentication?: AddClientAuthentication;
  /** Absent when the file of the upstream says who the client is: the SDK then registers none. */
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => void;
  readonly #state: string;
  #client: StoredOAuthClientInformation | undefined;
  #verifier = '';
  #discovery: OAuthDiscoveryState | undefined;
  #authorizationUrl: URL | undefined;
  #tokens: StoredOAuthTokens | undefined;

  constructor({ redirectUrl, version, state, clientMetadataUrl, known, registered }: AttemptOptions) {
    this.redirectUrl = redirectUrl;
    this.#state = state;
    this.#client = known?.client ?? registered;
    this.clientMetadata = {
      client_name: 'Sallyport',
      software_id: 'sallyport',
      software_version: version,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    if (known?.addClientAuthentication !== undefined) this.addClientAuthentication = known.addClientAuthentication;
    if (known === undefined) this.saveClientInformation = (client) => void (this.#client = client);
  }

  /** The page that the person must open. Undefined: not known yet. */
  get authorizationUrl(): URL | undefined {
    return this.#authorizationUrl;
  }

  /** The result. Undefined: not yet. */
  get result(): { readonly tokens: StoredOAuthTokens; readonly client?: StoredOAuthClientInformation } | undefined {
    if (this.#tokens === undefined) return undefined;
    const isOwn = this.saveClientInformation !== undefined && this.#client !== undefined;
    return { tokens: this.#tokens, ...(isOwn && this.#client ? { client: this.#client } : {}) };
  }

  readonly state = (): string => this.#state;
  readonly clientInformation = (): StoredOAuthClientInformation | undefined => this.#client;
  /** None: this login does not use the tokens of an earlier one. */
  readonly tokens = (): undefined => undefined;
  readonly saveTokens = (tokens: StoredOAuthTokens): void => void (this.#tokens = tokens);
  readonly redirectToAuthorization = (url: URL): void => void (this.#authorizationUrl = url);
  readonly saveCodeVerifier = (verifier: string): void => void (this.#verifier = verifier);
  readonly codeVerifier = (): string => this.#verifier;
  readonly saveDiscoveryState = (state: OAuthDiscoveryState): void => void (this.#discovery = state);
  readonly discoveryState = (): OAuthDiscoveryState | undefined => this.#discovery;
  readonly invalidateCredentials = (scope: string): void => {
    if (scope === 'client' && this.saveClientInformation !== undefined) this.#client = undefined;
  };
}
