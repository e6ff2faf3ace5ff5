/** What a service runs, and where. */
export interface ServiceProgram {
  /** Absolute: the Node to run with, and our program. */
  readonly node: string;
  readonly program: string;
  readonly home: string;
  readonly workspace: string;
  readonly port: number;
}

/** Names that only this install uses. */
export const serviceName = 'sallyport';
export const separatedUser = 'sallyport';
export const agentGroup = 'sallyport-agents';
export const separatedFolder = '/var/lib/sallyport';
export const socketFolder = '/run/sallyport';
export const launchLabel = 'dev.sallyport.gate';

/**
 * systemd hands a control group over, and the daemon has to sit below it: the kernel lets no process be in a group whose
 * children are limited. DelegateSubgroup does that from systemd 254 on; this does it everywhere.
 */
const sitBelow =
  'g=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup); ' +
  'mkdir -p "$g/daemon" && echo $$ > "$g/daemon/cgroup.procs"; exec "$0" "$@"';

function startLine({ node, program }: ServiceProgram): string {
  // In what it runs, systemd replaces variables.
  const words = [sitBelow, node, program].map((word) => quote(word.replaceAll('$', '$$$$')));
  return `ExecStart=/bin/sh -c ${words.join(' ')} up`;
}

function describeEnvironment(kind: string, { home, workspace, port }: ServiceProgram): readonly string[] {
  const variables = {
    SALLYPORT_HOME: home,
    SALLYPORT_WORKSPACE: workspace,
    SALLYPORT_PORT: String(port),
    SALLYPORT_SERVICE: kind,
  };
  return Object.entries(variables).map(([name, value]) => `Environment=${quote(`${name}=${value}`)}`);
}

/** A service of one user, which may make control groups. */
export function userUnit(service: ServiceProgram): string {
  return lines(
    '[Unit]',
    'Description=Sallyport, the gate between AI agents and their tools',
    '',
    '[Service]',
    'Type=exec',
    startLine(service),
    ...describeEnvironment('user', service),
    `WorkingDirectory=${escapeSpecifiers(service.workspace)}`,
    ...shared,
    '',
    '[Install]',
    'WantedBy=default.target',
  );
}

const shared = [
  'Delegate=yes',
  'UMask=0077',
  'NoNewPrivileges=yes',
  'KillMode=mixed',
  'TimeoutStopSec=60',
  'Restart=on-failure',
  'RestartSec=2',
];

/** A service under a user of its own. Agents reach it by a socket of their group, and by its port with a token. */
export function systemUnit(service: ServiceProgram): string {
  return lines(
    '[Unit]',
    'Description=Sallyport, the gate between AI agents and their tools',
    'After=network.target',
    '',
    '[Service]',
    'Type=exec',
    startLine(service),
    ...describeEnvironment('separated', service),
    `Environment=SALLYPORT_SOCKETS=${socketFolder}`,
    `Environment=SALLYPORT_AGENT_GROUP=${agentGroup}`,
    `WorkingDirectory=${escapeSpecifiers(service.workspace)}`,
    `User=${separatedUser}`,
    `Group=${separatedUser}`,
    `SupplementaryGroups=${agentGroup}`,
    'RuntimeDirectory=sallyport',
    'RuntimeDirectoryMode=0711',
    ...shared,
    '',
    '# What the sandbox leaves room for. Not set, because programs could not be confined then:',
    '# RestrictNamespaces, ProtectHostname and PrivateUsers (the sandbox makes namespaces of its own),',
    '# ProtectKernelTunables, ProtectKernelLogs, ProtectControlGroups and ProtectProc (below a masked /proc the kernel',
    '# refuses a fresh one, and limits are set in control groups), MemoryDenyWriteExecute (Node compiles while it runs),',
    '# a SystemCallFilter for @mount, @privileged and @resources.',
    'CapabilityBoundingSet=',
    'AmbientCapabilities=',
    'ProtectSystem=strict',
    `ReadWritePaths=${separatedFolder} ${escapeSpecifiers(service.workspace)}`,
    'ProtectHome=yes',
    'PrivateTmp=yes',
    'PrivateDevices=yes',
    'RemoveIPC=yes',
    'ProtectClock=yes',
    'ProtectKernelModules=yes',
    'RestrictSUIDSGID=yes',
    'RestrictRealtime=yes',
    'LockPersonality=yes',
    'SystemCallArchitectures=native',
    'SystemCallFilter=~@clock @cpu-emulation @module @obsolete @raw-io @reboot @swap',
    'SystemCallErrorNumber=EPERM',
    'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
    'KeyringMode=private',
    '',
    '[Install]',
    'WantedBy=multi-user.target',
  );
}

/** The same for macOS. */
export function launchAgent(service: ServiceProgram, logFile: string): string {
  const text = (value: string): string =>
    `<string>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</string>`;
  const { node, program, home, workspace, port } = service;
  const variables = {
    SALLYPORT_HOME: home,
    SALLYPORT_WORKSPACE: workspace,
    SALLYPORT_PORT: String(port),
    SALLYPORT_SERVICE: 'user',
  };
  return lines(
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0"><dict>',
    `<key>Label</key>${text(launchLabel)}`,
    `<key>ProgramArguments</key><array>${[node, program, 'up'].map(text).join('')}</array>`,
    '<key>EnvironmentVariables</key><dict>',
    ...Object.entries(variables).map(([name, value]) => `<key>${name}</key>${text(value)}`),
    '</dict>',
    `<key>WorkingDirectory</key>${text(workspace)}`,
    `<key>StandardOutPath</key>${text(logFile)}`,
    `<key>StandardErrorPath</key>${text(logFile)}`,
    '<key>RunAtLoad</key><true/>',
    '<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '<key>Umask</key><integer>63</integer>',
    '</dict></plist>',
  );
}

/** Lets bubblewrap make user namespaces where Ubuntu restricts them, and nothing else. */
export const apparmorProfile = `# Written by sallyport. Lets bubblewrap make the namespaces of a sandbox; everything else stays as it is.
abi <abi/4.0>,
include <tunables/global>

profile sallyport-bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
  include if exists <local/sallyport-bwrap>
}
`;

/** As systemd reads a word: in quotes, with its own signs doubled. */
function quote(text: string): string {
  return `"${escapeSpecifiers(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%');
}

function lines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
