import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { homedir } from 'node:os';
import { spellBytes } from '@sallyport/contract';
import { launchFile, systemUnitFile, userUnitFile } from './plan-service.ts';
import { launchLabel, serviceName } from './service-files.ts';
import { hasSystemd } from './service-steps.ts';

export interface InstalledService {
  readonly kind: 'user' | 'separated';
  readonly file: string;
  /** Absent: no service manager runs here, so nothing starts it. */
  readonly manager?: ServiceManager;
}

type Words = readonly [string, ...string[]];

/** What starts the service, and how to talk to it. */
export interface ServiceManager {
  readonly restart: Words;
  readonly logs: (follow: boolean) => Words;
  readonly describe: () => readonly (readonly [label: string, value: string])[];
  /** Of the daemon that it started. Undefined: none runs. */
  readonly readPid: () => number | undefined;
}

/** Undefined: no service is installed. */
export function findInstalled(): InstalledService | undefined {
  if (existsSync(systemUnitFile)) {
    return { kind: 'separated', file: systemUnitFile, ...(hasSystemd('system') && { manager: systemd('system') }) };
  }
  if (process.platform === 'darwin') {
    return existsSync(launchFile) ? { kind: 'user', file: launchFile, manager: launchd() } : undefined;
  }
  if (!existsSync(userUnitFile)) return undefined;
  return { kind: 'user', file: userUnitFile, ...(hasSystemd('user') && { manager: systemd('user') }) };
}

function systemd(scope: 'user' | 'system'): ServiceManager {
  const control: Words = scope === 'user' ? ['systemctl', '--user'] : ['systemctl'];
  const read = (): Map<string, string> => {
    const wanted = ['ActiveState', 'SubState', 'UnitFileState', 'ActiveEnterTimestamp', 'MainPID', 'NRestarts'];
    const names = [...wanted, 'MemoryCurrent'].map((name) => `--property=${name}`);
    const lines = capture([...control, 'show', ...names, serviceName]).split('\n');
    return new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
  };
  return {
    restart: [...control, 'restart', serviceName],
    logs: (follow) =>
      [
        ...['journalctl', '--quiet', scope === 'user' ? '--user-unit' : '--unit', serviceName, '--lines=100'],
        follow ? '--follow' : '--no-pager',
      ] as unknown as Words,
    describe: () => {
      const unit = read();
      const [pid, restarts, memory] = ['MainPID', 'NRestarts', 'MemoryCurrent'].map((name) => Number(unit.get(name)));
      return [
        ['state', `${unit.get('ActiveState')} (${unit.get('SubState')}), ${unit.get('UnitFileState')} at start`],
        ['since', unit.get('ActiveEnterTimestamp') ?? ''],
        ['process', pid ? String(pid) : ''],
        ['memory', memory ? `${spellBytes(memory)}, with all its programs` : ''],
        ['restarts', restarts ? `${restarts}, after failures` : ''],
      ];
    },
    readPid: () => Number(read().get('MainPID')) || undefined,
  };
}

function launchd(): ServiceManager {
  const target = `gui/${process.getuid?.() ?? 0}/${launchLabel}`;
  const read = (name: string): string =>
    new RegExp(`^\\s*${name} = (.*)$`, 'm').exec(capture(['launchctl', 'print', target]))?.[1] ?? '';
  return {
    restart: ['launchctl', 'kickstart', '-k', target],
    logs: (follow) => ['tail', '-n', '100', ...(follow ? ['-F'] : []), launchLog(join(homedir(), '.sallyport'))],
    describe: () => [
      ['state', read('state') || 'not loaded'],
      ['process', read('pid')],
    ],
    readPid: () => Number(read('pid')) || undefined,
  };
}

/** Where launchd puts what the daemon prints. */
export function launchLog(home: string): string {
  return join(home, 'log', 'service.log');
}

function capture([name, ...args]: Words): string {
  return spawnSync(name, args, { encoding: 'utf8' }).stdout ?? '';
}
