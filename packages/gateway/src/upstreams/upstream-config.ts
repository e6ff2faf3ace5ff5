import type { AssignedProperties } from '../registry/define-foreign-tool.ts';

/** A server that the gate starts and talks to over pipes. It gets what is named here and nothing else. */
export interface StdioEndpoint {
  readonly kind: 'stdio';
  /** The first is a program: absolute, a name in /usr/bin or /bin, or `node` for the gate's own. */
  readonly command: readonly [string, ...string[]];
  /** Absolute files and folders. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** As in Grants.hosts. */
  readonly hosts: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Names of stored secrets, which become variables of the same names. */
  readonly secrets: readonly string[];
}

/** A server that runs elsewhere. */
export interface HttpEndpoint {
  readonly kind: 'http';
  readonly url: string;
  /** Name of the stored secret that is sent as bearer token. Absent: none is sent. */
  readonly bearerSecret?: string;
}

/** One upstream server, as an operator wrote it down. */
export interface UpstreamConfig {
  /** First part of the names of its tools. */
  readonly name: string;
  /** Where it stands, for people. */
  readonly file: string;
  readonly endpoint: StdioEndpoint | HttpEndpoint;
  /** Without a call for so long, the connection is closed; the next call opens another. */
  readonly idleMs: number;
  /** What the operator says about tools, by their names without that of the upstream. */
  readonly assigned: ReadonlyMap<string, AssignedProperties>;
}

export const upstreamName = /^[a-z][a-z0-9_-]{0,31}$/;
export const defaultIdleMs = 5 * 60_000;
