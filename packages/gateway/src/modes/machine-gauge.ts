import { readFileSync, statfsSync } from 'node:fs';
import { cpus, freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { attempt } from '@sallyport/contract';

/** What is absent could not be measured. */
export interface MachineReading {
  /** Of all processors, or of the share that a control group leaves this process. */
  readonly cpuPercent?: number;
  /** Memory that is not available, of the machine or of the control group, whichever is tighter. */
  readonly memoryPercent?: number;
  /** Of the disk that holds the log. */
  readonly diskFreeMb?: number;
}

interface CpuTime {
  readonly busyMs: number;
  readonly totalMs: number;
}

const mebibyte = 1024 * 1024;

/** Measures this machine, and the control group that the daemon lives in. Files of the kernel; never blocks long. */
export class MachineGauge {
  readonly #folder: string;
  readonly #group: string | undefined;
  #cpu = readCpuTime();
  #groupCpu: CpuTime | undefined;

  /** `folder`: the folder of the log. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#group = findGroup();
    this.#groupCpu = readGroupCpuTime(this.#group);
  }

  /** CPU is that since the last reading. */
  read(): MachineReading {
    const [cpu, groupCpu] = [readCpuTime(), readGroupCpuTime(this.#group)];
    const percents = [percentOf(this.#cpu, cpu), percentOf(this.#groupCpu, groupCpu)].filter(isNumber);
    [this.#cpu, this.#groupCpu] = [cpu, groupCpu];
    const memory = [readMemoryPercent(), readGroupMemoryPercent(this.#group)].filter(isNumber);
    const diskFreeMb = readDiskFreeMb(this.#folder);
    return {
      ...(percents.length === 0 ? {} : { cpuPercent: Math.max(...percents) }),
      ...(memory.length === 0 ? {} : { memoryPercent: Math.max(...memory) }),
      ...(diskFreeMb === undefined ? {} : { diskFreeMb }),
    };
  }
}

function readCpuTime(): CpuTime {
  let [busyMs, totalMs] = [0, 0];
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.irq + times.idle;
    busyMs += sum - times.idle;
    totalMs += sum;
  }
  return { busyMs, totalMs };
}

/** Time used against the time that the quota of the group allowed for. Undefined: there is no quota. */
function readGroupCpuTime(group: string | undefined): CpuTime | undefined {
  const [quota, period] = (readText(group, 'cpu.max') ?? 'max').split(' ').map(Number);
  const usedMicros = Number(/^usage_usec (\d+)$/m.exec(readText(group, 'cpu.stat') ?? '')?.[1]);
  if (!isNumber(quota) || !isNumber(period) || !isNumber(usedMicros)) return undefined;
  return { busyMs: usedMicros / 1000, totalMs: performance.now() * (quota / period) };
}

function percentOf(before: CpuTime | undefined, after: CpuTime | undefined): number | undefined {
  if (before === undefined || after === undefined || after.totalMs <= before.totalMs) return undefined;
  return Math.min(100, (100 * (after.busyMs - before.busyMs)) / (after.totalMs - before.totalMs));
}

function readMemoryPercent(): number {
  const available = /^MemAvailable:\s+(\d+) kB$/m.exec(readText('/proc', 'meminfo') ?? '')?.[1];
  const free = available === undefined ? freemem() : Number(available) * 1024;
  return 100 * (1 - free / totalmem());
}

/** What can be dropped at once, such as files that were read, is not counted as used. */
function readGroupMemoryPercent(group: string | undefined): number | undefined {
  const limit = Number(readText(group, 'memory.max'));
  const used = Number(readText(group, 'memory.current'));
  const droppable = Number(/^inactive_file (\d+)$/m.exec(readText(group, 'memory.stat') ?? '')?.[1] ?? 0);
  return isNumber(limit) && limit > 0 && isNumber(used) ? (100 * Math.max(0, used - droppable)) / limit : undefined;
}

function readDiskFreeMb(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return (bavail * bsize) / mebibyte;
  } catch {
    return undefined;
  }
}

/** The folder of this process's control group, version 2. Undefined: it is in no such group. */
function findGroup(): string | undefined {
  const path = /^0::(\/.*)$/m.exec(readText('/proc/self', 'cgroup') ?? '')?.[1];
  return path === undefined ? undefined : join('/sys/fs/cgroup', path);
}

function readText(folder: string | undefined, name: string): string | undefined {
  return attempt(() => (folder === undefined ? undefined : readFileSync(join(folder, name), 'utf8').trim()));
}

/** `Number` is NaN for an absent value and for `max`. */
function isNumber(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}
