import { access, constants, readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';

export const processStates = ['running', 'stopped', 'zombie'] as const;

/** A process as the kernel describes it. Never its arguments, which may hold secrets. */
export interface FoundProcess {
  readonly [key: string]: string | number;
  readonly pid: number;
  /** As the kernel keeps it: at most 15 bytes. */
  readonly name: string;
  readonly state: (typeof processStates)[number];
}

export interface ProcessTable {
  readonly processes: readonly { readonly names: readonly string[]; readonly found: FoundProcess }[];
  /** `own`: the system shows the gate the processes of its own user only. */
  readonly scope: 'all' | 'own';
}

/** As the kernel counts for programs, whatever it does itself. */
const ticksPerSecond = 100;
const states: Readonly<Record<string, FoundProcess['state']>> = {
  T: 'stopped',
  t: 'stopped',
  Z: 'zombie',
  X: 'zombie',
};

/** All processes that the gate can see. Those that end meanwhile are left out. Linux only. */
export async function readProcesses(): Promise<ProcessTable> {
  const bootSeconds = Number(/^btime (\d+)$/m.exec(await readFile('/proc/stat', 'utf8'))?.[1]);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const processes = await Promise.all(pids.map((pid) => readProcess(pid, bootSeconds)));
  const seesFirst = await access('/proc/1/stat', constants.R_OK).then(
    () => true,
    () => false,
  );
  return { processes: processes.filter((each) => each !== undefined), scope: seesFirst ? 'all' : 'own' };
}

async function readProcess(pid: string, bootSeconds: number): Promise<ProcessTable['processes'][number] | undefined> {
  const [stat, status, commandLine] = await Promise.all(
    ['stat', 'status', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
  );
  // The name is in parentheses and may hold anything, parentheses included.
  const [, name, rest] = /^\d+ \((.*)\) (.+)$/s.exec(stat?.trim() ?? '') ?? [];
  if (name === undefined || rest === undefined) return undefined;
  const fields = rest.split(' ');
  const numberAt = (at: number): number => Number(fields[at]);
  const memoryKilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1];
  const program = commandLine?.split('\0', 1)[0] ?? '';
  return {
    names: [name, basename(program)].filter(Boolean),
    found: {
      pid: Number(pid),
      name,
      state: states[fields[0] ?? ''] ?? 'running',
      threads: numberAt(17),
      cpu_ms: ((numberAt(11) + numberAt(12)) * 1000) / ticksPerSecond,
      // A process without memory of its own belongs to the kernel, or has ended.
      ...(memoryKilobytes === undefined ? {} : { memory_bytes: Number(memoryKilobytes) * 1024 }),
      started_at: new Date((bootSeconds + numberAt(19) / ticksPerSecond) * 1000).toISOString(),
    },
  };
}
