import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  agentGroup,
  apparmorProfile,
  launchAgent,
  launchLabel,
  separatedFolder,
  separatedUser,
  serviceName,
  systemUnit,
  userUnit,
} from './service-files.ts';
import type { ServiceProgram } from './service-files.ts';
import type { Step } from './service-steps.ts';

export interface ServicePlan {
  /** What is written, first of all the unit. */
  readonly file: string;
  readonly install: readonly Step[];
  readonly uninstall: readonly Step[];
}

export const userUnitFile = join(homedir(), '.config/systemd/user', `${serviceName}.service`);
export const systemUnitFile = `/etc/systemd/system/${serviceName}.service`;
export const launchFile = join(homedir(), 'Library/LaunchAgents', `${launchLabel}.plist`);
const apparmorFile = '/etc/apparmor.d/sallyport-bwrap';

/** A service of this user. It goes on after they log out, where the machine lets it. */
export function planUserService(service: ServiceProgram, { isRunning }: { readonly isRunning: boolean }): ServicePlan {
  const control = (...args: string[]): Step => ({ run: ['systemctl', '--user', ...args] });
  return {
    file: userUnitFile,
    install: [
      { write: userUnitFile, content: userUnit(service) },
      ...(isRunning
        ? [
            control('daemon-reload'),
            control('enable', '--now', serviceName),
            { run: ['loginctl', 'enable-linger'], optional: true } as const,
          ]
        : []),
    ],
    uninstall: [
      ...(isRunning
        ? [{ run: ['systemctl', '--user', 'disable', '--now', serviceName], optional: true } as const]
        : []),
      { remove: userUnitFile },
      ...(isRunning ? [control('daemon-reload')] : []),
    ],
  };
}

export function planLaunchAgent(service: ServiceProgram, logFile: string): ServicePlan {
  const domain = `gui/${process.getuid?.() ?? 0}`;
  return {
    file: launchFile,
    install: [
      { write: launchFile, content: launchAgent(service, logFile) },
      { run: ['launchctl', 'bootstrap', domain, launchFile] },
    ],
    uninstall: [{ run: ['launchctl', 'bootout', `${domain}/${launchLabel}`], optional: true }, { remove: launchFile }],
  };
}

/** A service under a user of its own, who owns all that it keeps. Removing it leaves what it kept. */
export function planSeparated(
  service: ServiceProgram,
  { isRunning, agents }: { readonly isRunning: boolean; readonly agents: readonly string[] },
): ServicePlan {
  const folder = (path: string): Step => ({
    run: ['install', '-d', '-m', '0700', '-o', separatedUser, '-g', separatedUser, path],
  });
  const control = (...args: string[]): Step => ({ run: ['systemctl', ...args] });
  return {
    file: systemUnitFile,
    install: [
      { run: ['groupadd', '--system', '--force', agentGroup] },
      {
        run: [
          'sh',
          '-c',
          `id -u ${separatedUser} >/dev/null 2>&1 || useradd --system --user-group --shell /usr/sbin/nologin --home-dir ${separatedFolder} ${separatedUser}`,
        ],
      },
      { run: ['usermod', '--append', '--groups', agentGroup, separatedUser] },
      ...agents.map((name): Step => ({ run: ['usermod', '--append', '--groups', agentGroup, name] })),
      folder(separatedFolder),
      // What an earlier install left is root's since then. Links are changed themselves, not what they lead to.
      { run: ['chown', '-R', '-h', `${separatedUser}:${separatedUser}`, separatedFolder] },
      folder(service.home),
      folder(service.workspace),
      { write: systemUnitFile, content: systemUnit(service) },
      ...(isRunning ? [control('daemon-reload'), control('enable', '--now', serviceName)] : []),
    ],
    uninstall: [
      ...(isRunning ? [{ run: ['systemctl', 'disable', '--now', serviceName], optional: true } as const] : []),
      { remove: systemUnitFile },
      ...(isRunning ? [control('daemon-reload')] : []),
      // The number of the user is free afterwards, and who gets it next must not get the keys and the log with it.
      { run: ['chown', '-R', '-h', 'root:root', separatedFolder] },
      { run: ['userdel', separatedUser], optional: true },
      { run: ['groupdel', agentGroup], optional: true },
    ],
  };
}

/** For machines on which only named programs may make user namespaces, such as Ubuntu since 23.10. */
export const apparmorPlan: ServicePlan = {
  file: apparmorFile,
  install: [{ write: apparmorFile, content: apparmorProfile }, { run: ['apparmor_parser', '--replace', apparmorFile] }],
  uninstall: [{ run: ['apparmor_parser', '--remove', apparmorFile], optional: true }, { remove: apparmorFile }],
};
