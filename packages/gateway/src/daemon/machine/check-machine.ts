import type { Check } from '../../catalogue/self/check.ts';
import type { Config } from '../config.ts';
import type { InstallKind } from './install-kind.ts';
import {
  checkDatabases,
  checkHome,
  checkInstall,
  checkNode,
  checkNotifications,
  checkPrograms,
  checkRules,
  checkSpace,
} from './machine-checks.ts';

export interface CheckedMachine {
  readonly config: Config;
  /** What is known about the sandbox. */
  readonly sandbox: readonly Check[];
  /** Of the running daemon. Absent: what was set, or a folder that no rule can be wrong about. */
  readonly workspace?: string | undefined;
  /** Of the running daemon. Absent: as if the present user started it. */
  readonly install?: InstallKind | undefined;
}

/** Everything that the gate needs here, looked at from inside the daemon and by `doctor` alike. Changes nothing. */
export function checkMachine({ config, sandbox, workspace, install }: CheckedMachine): readonly Check[] {
  return [
    checkNode(process.versions.node),
    ...sandbox,
    ...checkPrograms(),
    checkHome(config.home),
    checkSpace(config.home.folder),
    checkRules(config, workspace),
    ...checkNotifications(config),
    ...checkDatabases(config),
    checkInstall(install),
  ];
}

/** What a daemon wants an operator to look at, without what the checks have said. */
export function checkWarnings(warnings: readonly string[], said: readonly Check[]): readonly Check[] {
  return warnings
    .filter((warning) => !said.some(({ message }) => warning.startsWith(message)))
    .map((message) => ({ name: 'look at', state: 'warn', message }));
}
