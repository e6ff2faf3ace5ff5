import { unenforced } from '@sallyport/sandbox';
import type { Abilities } from '@sallyport/sandbox';
import type { Check } from '../../catalogue/self/check.ts';

/** What the service that runs programs found when it tried out the machine. */
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
  const message = `Limits of programs are watched, not enforced by the kernel. ${unenforced.reason}`;
  return { name, state: 'warn', message, remedy: unenforced.remedy };
}

function spellSandbox(version: string): string {
  return /^\d/.test(version) ? `bubblewrap ${version}` : version;
}
