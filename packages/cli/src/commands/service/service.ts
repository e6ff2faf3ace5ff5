import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exitCodes } from '@sallyport/contract/codes';
import { canEnter, unprivilegedUser } from '@sallyport/sandbox';
import { usageFailure } from '../../client/failure.ts';
import { seekConsent } from '../../client/run-steps.ts';
import type { CommandContext } from '../../command-context.ts';
import { command, file, flag, list } from '../../command-table.ts';
import { printFields } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { visibleJson } from '../../terminal/visible-text.ts';
import { findInstalled, launchLog } from './installed-service.ts';
import type { ServiceManager } from './installed-service.ts';
import { apparmorPlan, planLaunchAgent, planSeparated, planUserService } from './plan-service.ts';
import type { ServicePlan } from './plan-service.ts';
import { agentGroup, separatedFolder, separatedUser, socketFolder } from './service-files.ts';
import { hasSystemd, spellStep, takeSteps } from './service-steps.ts';

const restriction = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';

/** A gate that is there after a reboot. */
export const serviceCommands = [
  command('install', {
    help: 'run the daemon as your service or, with --separated and as root, under its own user',
    options: {
      separated: flag('as a system service under its own user, whose files no agent can reach (needs root)'),
      workspace: file('folder', 'where it works (default: this folder; separated: a folder of its own)'),
      agents: list('users', 'users whose agents may use the socket of a separated service'),
      dryRun: flag('only show what would be done'),
      yes: flag('do not ask'),
    },
    run: async ({ separated = false, workspace, agents = [], dryRun = false, yes = false }, context) => {
      const plan = choosePlan({ separated, workspace, agents }, context);
      const isRoot = process.getuid?.() === 0;
      const steps = [...plan.install, ...(isRestricted() && isRoot ? apparmorPlan.install : [])];
      const { terminal, json } = context;
      if (!json) terminal.print('This would:', ...steps.map((step) => `  ${spellStep(step)}`));
      if (dryRun) {
        if (json) terminal.print(visibleJson({ steps: steps.map(spellStep) }));
        return exitCodes.success;
      }
      await seekConsent('Install the service?', { yes }, context);
      takeSteps(steps, () => undefined);
      if (json) terminal.print(visibleJson({ installed: plan.file }));
      else {
        terminal.print('', ...explainInstalled(separated, context));
        if (isRestricted() && !isRoot) terminal.print('', ...offerProfile(context));
      }
      return exitCodes.success;
    },
  }),
  command('apparmor', {
    help: 'let bubblewrap make the namespaces of a sandbox where AppArmor restricts them, as on Ubuntu (needs root)',
    options: {
      remove: flag('remove the profile again'),
      dryRun: flag('only show what would be done'),
      yes: flag('do not ask'),
    },
    run: async ({ remove = false, dryRun = false, yes = false }, context) => {
      const { terminal, json } = context;
      const steps = remove ? apparmorPlan.uninstall : apparmorPlan.install;
      if (!json) terminal.print('This would:', ...steps.map((step) => `  ${spellStep(step)}`));
      if (!dryRun) {
        if (process.getuid?.() !== 0) throw usageFailure('Only root can change profiles.', 'Run it with sudo.');
        await seekConsent(remove ? 'Remove the profile?' : 'Install the profile?', { yes }, context);
        takeSteps(steps, () => undefined);
      }
      if (json) terminal.print(visibleJson({ steps: steps.map(spellStep), done: !dryRun }));
      return exitCodes.success;
    },
  }),
  command('uninstall', {
    help: 'stop the service and remove it; its data stays',
    options: { separated: flag('the one under its own user (needs root)'), yes: flag('do not ask') },
    run: async ({ separated = false, yes = false }, context) => {
      const plan = choosePlan({ separated, workspace: undefined, agents: [] }, context);
      if (!existsSync(plan.file)) throw usageFailure(`No service is installed: there is no ${plan.file}.`);
      const { terminal, json } = context;
      const profile = separated && existsSync(apparmorPlan.file) ? apparmorPlan.uninstall : [];
      const steps = [...plan.uninstall, ...profile];
      if (!json) terminal.print('This would:', ...steps.map((step) => `  ${spellStep(step)}`));
      await seekConsent('Remove the service?', { yes }, context);
      takeSteps(steps, () => undefined);
      const kept = separated ? separatedFolder : context.config.home.folder;
      terminal.print(json ? visibleJson({ removed: plan.file, kept }) : `Removed. What it kept is in ${kept}`);
      return exitCodes.success;
    },
  }),
  command('status', {
    help: 'show which service is installed, and whether it runs',
    run: (_, { terminal, json, commandName }) => {
      const installed = findInstalled();
      const fields = installed?.manager?.describe() ?? [];
      if (json) {
        const { kind = 'none', file: unit = '' } = installed ?? {};
        terminal.print(visibleJson({ installed: kind, file: unit, ...Object.fromEntries(fields) }));
      } else if (installed === undefined) {
        terminal.print('No service is installed.', `  ${commandName} service install`);
      } else {
        terminal.print(`A ${installed.kind} service is installed: ${installed.file}`);
        if (installed.manager === undefined) terminal.print('No service manager runs here, so nothing starts it.');
        else printFields(terminal, fields);
      }
      return installed === undefined ? exitCodes.toolError : exitCodes.success;
    },
  }),
  command('logs', {
    help: 'show the output that the service manager kept',
    options: { follow: flag('keep showing new lines', { short: 'f' }) },
    run: ({ follow = false }) => run(requireManager().logs(follow)),
  }),
  command('restart', {
    help: 'restart the service',
    run: () => run(requireManager().restart),
  }),
];

interface Wanted {
  readonly separated: boolean;
  readonly workspace: string | undefined;
  readonly agents: readonly string[];
}

function choosePlan({ separated, workspace, agents }: Wanted, { config }: CommandContext): ServicePlan {
  const program = realpathSync(process.argv[1] ?? '');
  const shared = { node: process.execPath, program, port: config.port };
  if (!separated) {
    const service = {
      ...shared,
      home: config.home.folder,
      workspace: workspace ?? config.workspace ?? config.startFolder,
    };
    if (process.platform === 'darwin') return planLaunchAgent(service, launchLog(config.home.folder));
    return planUserService(service, { isRunning: hasSystemd('user') });
  }
  if (process.getuid?.() !== 0) throw usageFailure('Only root can install a separated service.', 'Run it with sudo.');
  if (process.platform !== 'linux') throw usageFailure('A separated service needs Linux.');
  for (const path of [process.execPath, program]) {
    if (canEnter(dirname(path), unprivilegedUser)) continue;
    throw usageFailure(
      `Another user cannot reach ${path}.`,
      'Install Sallyport for everyone, as with `sudo npm install -g sallyport`, and run that one.',
    );
  }
  const service = {
    ...shared,
    home: join(separatedFolder, 'gate'),
    workspace: workspace ?? join(separatedFolder, 'workspace'),
  };
  return planSeparated(service, { isRunning: hasSystemd('system'), agents });
}

/** Whether the kernel lets only programs with an AppArmor profile make user namespaces. */
function isRestricted(): boolean {
  return existsSync(restriction) && readFileSync(restriction, 'utf8').trim() === '1';
}

function offerProfile({ commandName, terminal }: CommandContext): readonly string[] {
  const text =
    'On this machine, only programs with an AppArmor profile can make the namespaces of a sandbox. Add one for bubblewrap:';
  return [...wrapWords(text, terminal.columns), `  sudo ${commandName} service apparmor`];
}

function explainInstalled(separated: boolean, { commandName, terminal }: CommandContext): readonly string[] {
  const wrap = (text: string): readonly string[] => wrapWords(text, terminal.columns);
  if (!separated) {
    return hasSystemd('user') || process.platform === 'darwin'
      ? [...wrap('Installed. It starts with the machine.'), `  ${commandName} status`]
      : wrap('Written, but your user has no service manager running, so nothing starts it.');
  }
  const asUser = `sudo -u ${separatedUser} env SALLYPORT_HOME=${separatedFolder}/gate SALLYPORT_SOCKETS=${socketFolder}`;
  return [
    ...wrap(
      hasSystemd('system')
        ? 'Installed. It starts with the machine.'
        : 'Written, but systemd does not run here, so nothing starts it.',
    ),
    'Run it as its user:',
    `  ${asUser} sallyport status`,
    `  ${asUser} sallyport session create AGENT`,
    ...wrap(`Agents of users in the group ${agentGroup} use the socket, others the port:`),
    `  SALLYPORT_SOCKETS=${socketFolder} SALLYPORT_TOKEN=… sallyport tool list`,
  ];
}

function requireManager(): ServiceManager {
  const manager = findInstalled()?.manager;
  if (manager !== undefined) return manager;
  throw usageFailure('No service of a service manager is installed here.', 'See `service install`.');
}

function run([name = '', ...args]: readonly string[]): number {
  return spawnSync(name, args, { stdio: 'inherit' }).status ?? exitCodes.toolError;
}
