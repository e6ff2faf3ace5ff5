import type { AssignedProperties } from '../registry/define-foreign-tool.ts';
import type { RequestKind } from './requests/request-kinds.ts';

/** An npm package with all its dependencies, as it was when an operator added it. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** Of the whole tree, as in StoredProgram. A package with another hash does not start. */
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
  /** The only authorization server that gets the secrets named below. Absent: none is secret. */
  readonly issuer?: string;
  /** Of a client that was registered by hand. Absent: the gate registers itself. */
  readonly clientId?: string;
  /** Name of a stored secret. */
  readonly clientSecret?: string;
  /** A key in PEM with which the client signs. `secret` is the name of a stored secret. */
  readonly privateKey?: { readonly secret: string; readonly algorithm: (typeof jwtAlgorithms)[number] };
  /** The address of a document that describes the client, for authorization servers that support it. */
  readonly clientMetadataUrl?: string;
  /** Empty: what the server asks for. */
  readonly scopes: readonly string[];
  /** `127.0.0.1:9000`: hosts of the authorization server that are not public. */
  readonly hosts: readonly string[];
  /** The port of this machine that the browser returns to. Absent: any free port. */
  readonly redirectPort?: number;
}

/** One upstream server, as its file describes it. */
export interface UpstreamConfig {
  /** First part of the names of its tools. */
  readonly name: string;
  /** Its file, for people. */
  readonly file: string;
  readonly endpoint: StdioEndpoint | HttpEndpoint;
  /** What the gate tells the server that it may ask for. A rule decides about each request. */
  readonly mayAsk: readonly RequestKind[];
  /** After this time without a call, the connection is closed; the next call opens another. */
  readonly idleMs: number;
  /** What the operator says about tools, by their names without that of the upstream. */
  readonly assigned: ReadonlyMap<string, AssignedProperties>;
}

export const upstreamName = /^[a-z][a-z0-9_-]{0,31}$/;
export const defaultIdleMs = 5 * 60_000;
