import { describeCutOff } from '../../undo/cut-off-undos.ts';
import { describeRootTrouble, describeStranded } from '../../workspaces/workspace-book.ts';
import { describeMachineTrouble } from '../machine/describe-abilities.ts';
import { describeNewerProgram } from '../machine/newer-program.ts';
import type { DaemonParts } from '../parts/daemon-parts.ts';

type WarningSources = Pick<
  DaemonParts,
  'executor' | 'workspace' | 'approvals' | 'telemetry' | 'cutOffUndos' | 'remote' | 'workspaces' | 'store'
>;

/** What an operator should look at. */
export function listWarnings(parts: WarningSources): readonly string[] {
  const { executor, workspace, approvals, telemetry, cutOffUndos, remote, workspaces, store } = parts;
  return [
    ...[describeNewerProgram()].filter((warning) => warning !== undefined),
    ...describeMachineTrouble(executor.abilities(), workspace),
    ...approvals.warnings(),
    ...telemetry.warnings(),
    ...cutOffUndos.map(describeCutOff),
    ...(remote.providers.problem === undefined ? [] : [remote.providers.problem]),
    ...describeRootTrouble(workspaces.inspect()),
    ...describeStranded(workspaces, store.liveSessions()),
  ];
}
