import type { AssignedProperties } from '../registry/define-foreign-tool.ts';
import type { RequestKind } from './requests/request-kinds.ts';

/** A package of npm with all that it depends on, as it was when an operator let it in. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** Of the whole tree, as in StoredProgram. What has another hash does not start. */
  readonly sha256: string;
  /** The file to start, in the tree. */
  readonly entry: string;
}

/** A server that the gate starts and talks to over pipes. It gets what is named here and nothing else. */
export interface StdioEndpoint {
  readonly kind: 'stdio';
  /** The first is a program: absolute, a name in /usr/bin or /bin, or `node` for the gate's own. */
  readonly command: readonly [string, ...string[]];
  /** The command is a file of this package. Absent: of the machine. */
  readonly package?: PinnedPackage;
  /** Absolute files and folders. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** As in Grants.hosts. */
  readonly hosts: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Names of stored secrets, which become variables of the same names. */
  readonly secrets: readonly string[];
  /** As in Grants. */
  readonly unixSockets: boolean;
}

/** A server that runs elsewhere. */
export interface HttpEndpoint {
  readonly kind: 'http';
  readonly url: string;
  /** Name of the stored secret that is sent as bearer token. Absent: that of a login, if the server asks for one. */
  readonly bearerSecret?: string;
  /** Names of stored secrets by the header that each is sent as. Absent: none. */
  readonly secretHeaders?: Readonly<Record<string, string>>;
  /** How the gate logs in. Absent: as the server says, once a person has agreed. */
  readonly oauth?: OAuthSettings;
}

export const jwtAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'] as const;

/** What an operator says about the login at a server. */
export interface OAuthSettings {
  /** `client_credentials`: the gate logs in as itself, and no person is asked. */
  readonly grant: 'authorization_code' | 'client_credentials';
  /** The one authorization server that may have what is named below. Absent: nothing of it is secret. */
  readonly issuer?: string;
  /** Of a client that was registered by hand. Absent: the gate registers itself. */
  readonly clientId?: string;
  /** Name of a stored secret. */
  readonly clientSecret?: string;
  /** A key in PEM that signs who the client is. `secret` is the name of a stored secret. */
  readonly privateKey?: { readonly secret: string; readonly algorithm: (typeof jwtAlgorithms)[number] };
  /** Where a document describes the client, for authorization servers that read such. */
  readonly clientMetadataUrl?: string;
  /** Empty: what the server asks for. */
  readonly scopes: readonly string[];
  /** `127.0.0.1:9000`: hosts of the authorization server that are not public. */
  readonly hosts: readonly string[];
  /** Where the browser comes back to, on this machine. Absent: any port that is free. */
  readonly redirectPort?: number;
}

/** One upstream server, as an operator wrote it down. */
export interface UpstreamConfig {
  /** First part of the names of its tools. */
  readonly name: string;
  /** Where it stands, for people. */
  readonly file: string;
  readonly endpoint: StdioEndpoint | HttpEndpoint;
  /** What the server is told that it may ask for. Whether it gets it, a rule says each time. */
  readonly mayAsk: readonly RequestKind[];
  /** Without a call for so long, the connection is closed; the next call opens another. */
  readonly idleMs: number;
  /** What the operator says about tools, by their names without that of the upstream. */
  readonly assigned: ReadonlyMap<string, AssignedProperties>;
}

export const upstreamName = /^[a-z][a-z0-9_-]{0,31}$/;
export const defaultIdleMs = 5 * 60_000;
