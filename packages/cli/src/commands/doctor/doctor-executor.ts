import { setTimeout } from 'node:timers/promises';
import { SpawnerClient, ProgramNotStarted, checkEnforcement } from '@sallyport/sandbox';
import type { Abilities } from '@sallyport/sandbox';
import type { Check } from './doctor-checks.ts';

const patienceMs = 20_000;

/** Starts the service that runs programs, as the daemon does, and asks what it can do here. */
export async function checkExecutor(): Promise<readonly Check[]> {
  const troubles: string[] = [];
  const client = new SpawnerClient({ onTrouble: (message) => void troubles.push(message) });
  try {
    const abilities = await Promise.race([client.abilities, setTimeout(patienceMs, undefined, { ref: false })]);
    if (abilities !== undefined) return describeAbilities(abilities);
    const message = troubles[0] ?? `The executor service was not ready after ${patienceMs / 1000} s.`;
    return [{ name: 'sandbox', state: 'fail', message }];
  } finally {
    await client.close();
  }
}

export function describeAbilities({ sandbox, limits }: Abilities): readonly Check[] {
  return [
    sandbox.usable
      ? { name: 'sandbox', state: 'ok', message: `${spellSandbox(sandbox.version)}, tried out` }
      : {
          name: 'sandbox',
          state: 'fail',
          message: `Programs cannot be confined, so none is run: ${sandbox.reason}`,
          remedy: sandbox.remedy,
        },
    describeLimits(limits),
  ];
}

function describeLimits(limits: Abilities['limits']): Check {
  const name = 'limits';
  if (limits === 'cgroup') {
    return { name, state: 'ok', message: 'control groups limit and measure CPU time, memory and processes' };
  }
  if (limits === 'sampled') return { name, state: 'warn', message: 'limits are kept by watching, not by the kernel' };
  try {
    checkEnforcement(undefined, 'kernel');
  } catch (error) {
    if (!(error instanceof ProgramNotStarted)) throw error;
    const { message, remedy } = error;
    return { name, state: 'fail', message, ...(remedy === undefined ? {} : { remedy }) };
  }
  return { name, state: 'fail', message: 'limits of programs cannot be kept' };
}

function spellSandbox(version: string): string {
  return /^\d/.test(version) ? `bubblewrap ${version}` : version;
}
