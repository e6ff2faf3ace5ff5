import { explainUnwritable } from '@sallyport/sandbox';
import type { Abilities } from '@sallyport/sandbox';
import { describeAbilities } from './describe-abilities.ts';

/** What of programs does not work on this machine, or not as well as it could, each with what to do about it. */
export function describeMachineTrouble(abilities: Abilities | undefined, workspace: string): readonly string[] {
  const checks = abilities === undefined ? [] : describeAbilities(abilities);
  const closed = explainUnwritable(workspace);
  return [
    ...checks.filter(({ state }) => state !== 'ok').map(({ message, remedy = '' }) => `${message} ${remedy}`.trimEnd()),
    ...(closed === undefined ? [] : [`Programs cannot change the workspace. ${closed.reason} ${closed.remedy}`]),
  ];
}
