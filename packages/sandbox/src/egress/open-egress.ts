import { ProgramNotStarted } from '../program.ts';
import { EgressProxy } from './egress-proxy.ts';
import type { EgressProxyOptions } from './egress-proxy.ts';
import { parseHostPattern } from './host-pattern.ts';
import type { HostPattern } from './host-pattern.ts';
import type { InsideOf, NamespaceDoor } from './namespace-door.ts';
import { HostSyntaxError } from './parse-host.ts';

/** Where every program that may use the network finds the gate, in a network of its own. */
export const egressPort = 3128;

const gate = `http://127.0.0.1:${egressPort}`;

/**
 * For the environment of a program that is granted hosts. The same for all of them, so it is known before any starts.
 */
export const egressEnvironment: Readonly<Record<string, string>> = {
  HTTP_PROXY: gate,
  HTTPS_PROXY: gate,
  ALL_PROXY: gate,
  NO_PROXY: '',
  http_proxy: gate,
  https_proxy: gate,
  all_proxy: gate,
  no_proxy: '',
  NODE_USE_ENV_PROXY: '1',
};

export interface EgressOptions extends Omit<EgressProxyOptions, 'hosts'>, InsideOf {
  /** Made for `egressPort`. */
  readonly door: NamespaceDoor;
  /** As in `Program.hosts`. */
  readonly hosts: readonly string[];
}

/**
 * Opens the gate inside the network of a process that has not been released yet: 127.0.0.1 and `egressPort` there lead
 * to the proxy of this call, and nothing else leads there. Close it when the program has ended, or when it is not
 * released after all.
 *
 * Failure: rejects with ProgramNotStarted; then nothing is open.
 */
export async function openEgress({ door, hosts, pid, networkNamespace, ...rest }: EgressOptions): Promise<EgressProxy> {
  const proxy = new EgressProxy({ ...rest, hosts: hosts.map(parseGranted) });
  const socket = await door.bind({ pid, networkNamespace });
  try {
    await proxy.listen(socket);
    return proxy;
  } catch (error) {
    socket.close();
    throw new ProgramNotStarted('SANDBOX_UNAVAILABLE', 'The gate could not listen inside the sandbox.', {
      cause: error,
    });
  }
}

function parseGranted(host: string): HostPattern {
  try {
    return parseHostPattern(host);
  } catch (error) {
    if (!(error instanceof HostSyntaxError)) throw error;
    throw new ProgramNotStarted('EXECUTION_ERROR', `A rule grants ${JSON.stringify(host)}, but ${error.message}.`, {
      remedy: 'Correct the line under hosts in the rule.',
    });
  }
}
