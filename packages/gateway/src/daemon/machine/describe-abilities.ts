import type { Abilities } from '@sallyport/sandbox';
import type { Check } from '../../catalogue/self/check.ts';
import { explainUnwritable } from '@sallyport/sandbox';

/** Which limits hold where the kernel lets the gate make no control groups, and the command that changes it. */
export const watchedLimits = {
  reason:
    'CPU time, memory and processes are watched, because the daemon may not make control groups. ' +
    'Time, output, open files and file sizes are enforced.',
  remedy: 'Run the daemon as a service: sallyport service install',
};

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
  const { reason, remedy } = watchedLimits;
  return { name, state: 'warn', message: `Some limits of programs are watched, not enforced. ${reason}`, remedy };
}

function spellSandbox(version: string): string {
  return /^\d/.test(version) ? `bubblewrap ${version}` : version;
}

/** What of programs does not work on this machine, or not as well as it could, each with what to do about it. */
export function describeMachineTrouble(abilities: Abilities | undefined, workspace: string): readonly string[] {
  const checks = abilities === undefined ? [] : describeAbilities(abilities);
  const closed = explainUnwritable(workspace);
  return [
    ...checks.filter(({ state }) => state !== 'ok').map(({ message, remedy = '' }) => `${message} ${remedy}`.trimEnd()),
    ...(closed === undefined ? [] : [`Programs cannot change the workspace. ${closed.reason} ${closed.remedy}`]),
  ];
}
