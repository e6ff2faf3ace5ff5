import { ProgramNotStarted } from '../program.ts';
import type { NetworkEvent } from '../network-log.ts';
import type { Program } from '../program.ts';
import type { NamespaceDoor } from '../egress/namespace-door.ts';
import type { SandboxedChild } from './status-reader.ts';

/** The one way out of a sandbox, and what went through it. */
export interface ProgramNetwork {
  readonly connections: number;
  /** Reports all requests so far at once. */
  readonly flush: () => void;
  readonly close: () => Promise<void>;
}

/** Loaded with the first program that may use the network: most spawners never need it. */
const loadEgress = () => import('../egress/open-egress.ts');

let door: NamespaceDoor | undefined;

/**
 * Gives a program that waits to be released its way to the granted hosts: a proxy of its own inside its network.
 * Rejects with ProgramNotStarted.
 */
export async function openNetwork(
  hosts: readonly string[],
  child: SandboxedChild,
  onEvents: (events: readonly NetworkEvent[]) => void,
): Promise<ProgramNetwork> {
  const { pid, networkNamespace } = child;
  if (networkNamespace === undefined) {
    throw new ProgramNotStarted('SANDBOX_UNAVAILABLE', 'The program has no network namespace of its own.');
  }
  const { egressPort, openEgress } = await loadEgress();
  const { NamespaceDoor } = await import('../egress/namespace-door.ts');
  door ??= new NamespaceDoor({ port: egressPort });
  return openEgress({ door, hosts, pid, networkNamespace, onEvents });
}

/** The same program with the address of the proxy in its environment. */
export async function showNetwork(program: Program): Promise<Program> {
  if (program.hosts.length === 0 || program.isolation === 'none') return program;
  const { egressEnvironment } = await loadEgress();
  return { ...program, environment: { ...program.environment, ...egressEnvironment } };
}
