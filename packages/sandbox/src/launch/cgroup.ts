import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { distinctPlaces, killPlace } from './cgroup-places.ts';
import type { CgroupPlace, CgroupPlaces } from './cgroup-places.ts';
import { hasCode } from '../has-code.ts';

export interface CgroupLimits {
  readonly memoryBytes: number;
  /** The kernel counts threads as well. */
  readonly processes: number;
}

/** What a group has used since it was made. Absent: this kernel does not say. */
export interface CgroupUsage {
  readonly cpuMs?: number;
  readonly peakMemoryBytes?: number;
}

/**
 * One control group for one program and whatever it starts. Everything happens on the spot: the kernel takes a tenth of
 * a millisecond to move a process, and handing that to another thread and back takes ten times as long on a busy
 * machine. Reading does not throw when the group is gone.
 */
export class Cgroup {
  readonly measuredBy = 'cgroup';
  readonly #places: CgroupPlaces;
  #limits: CgroupLimits | undefined;
  #cpuBeforeMs = 0;

  private constructor(places: CgroupPlaces) {
    this.#places = places;
  }

  /** Rejects when the group or one of its limits cannot be made; then nothing is left. */
  static async create(parents: CgroupPlaces, name: string, limits: CgroupLimits): Promise<Cgroup> {
    const inside = (place: CgroupPlace): CgroupPlace => ({ ...place, folder: join(place.folder, name) });
    const group = new Cgroup({
      cpu: inside(parents.cpu),
      memory: inside(parents.memory),
      processes: inside(parents.processes),
    });
    try {
      for (const { folder } of distinctPlaces(group.#places)) mkdirSync(folder);
      group.limit(limits);
      return group;
    } catch (error) {
      await group.tryRemove();
      throw error;
    }
  }

  async add(pid: number): Promise<void> {
    for (const { folder } of distinctPlaces(this.#places)) writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  }

  /**
   * The same on another thread, for a process that nobody waits for: the first to join any group after a moment of rest
   * waits until every core has been somewhere else, which takes 4 to 12 ms.
   */
  async addInTime(pid: number): Promise<void> {
    for (const { folder } of distinctPlaces(this.#places)) await writeFile(join(folder, 'cgroup.procs'), String(pid));
  }

  countFromNow(): void {
    this.#cpuBeforeMs = readCpuMs(this.#places.cpu) ?? 0;
  }

  readUsage(): CgroupUsage {
    const cpuMs = this.readCpuMs();
    const { folder, version } = this.#places.memory;
    const peak = readNumber(join(folder, version === 2 ? 'memory.peak' : 'memory.max_usage_in_bytes'));
    return { ...(cpuMs !== undefined && { cpuMs }), ...(peak !== undefined && { peakMemoryBytes: peak }) };
  }

  readCpuMs(): number | undefined {
    const cpuMs = readCpuMs(this.#places.cpu);
    return cpuMs === undefined ? undefined : toMicroseconds(cpuMs - this.#cpuBeforeMs);
  }

  /** Where anyone of this user can read how much CPU time was used. */
  get cpuPlace(): CgroupPlace {
    return this.#places.cpu;
  }

  listProcesses(): readonly number[] {
    return readLines(join(killPlace(this.#places).folder, 'cgroup.procs')).map(Number);
  }

  /**
   * Which limit the kernel had to enforce. Processes first: forks that the kernel refuses fill its own memory, which
   * counts against the group, so that a fork bomb can reach the other limit as well.
   */
  findReachedLimit(): 'memoryBytes' | 'processes' | undefined {
    const { memory, processes } = this.#places;
    const refusedForks = readField(join(processes.folder, 'pids.events'), 'max') ?? 0;
    if (refusedForks > 0) return 'processes';
    const events = join(memory.folder, memory.version === 2 ? 'memory.events' : 'memory.oom_control');
    return (readField(events, 'oom_kill') ?? 0) > 0 ? 'memoryBytes' : undefined;
  }

  /** Kills what is in the group now and lets nothing new start in it. Call it until the group is empty. */
  kill(): void {
    const { folder, version } = killPlace(this.#places);
    // All at once, and what is being forked at that moment with them.
    const isKilled = version === 2 && tryWrite(join(folder, 'cgroup.kill'), '1');
    tryWrite(join(this.#places.processes.folder, 'pids.max'), '0');
    if (isKilled) return;
    for (const pid of readLines(join(folder, 'cgroup.procs'))) tryKill(Number(pid));
  }

  isEmpty(): boolean {
    const { folder, version } = killPlace(this.#places);
    if (version === 2) return readField(join(folder, 'cgroup.events'), 'populated') !== 1;
    return readLines(join(folder, 'cgroup.procs')).length === 0;
  }

  /** False while the kernel still holds on to it. */
  async tryRemove(): Promise<boolean> {
    // All are tried, even after one that fails.
    return distinctPlaces(this.#places).filter(({ folder }) => !tryRemoveFolder(folder)).length === 0;
  }

  /** Throws when one of them cannot be made. */
  limit(limits: CgroupLimits): void {
    const { memoryBytes, processes } = limits;
    if (this.#limits?.memoryBytes === memoryBytes && this.#limits.processes === processes) return;
    this.#limits = undefined;
    const { memory, processes: pids } = this.#places;
    const bytes = String(Math.floor(memoryBytes));
    if (memory.version === 2) {
      writeFileSync(join(memory.folder, 'memory.max'), bytes);
      writeFileSync(join(memory.folder, 'memory.oom.group'), '1');
      tryWrite(join(memory.folder, 'memory.swap.max'), '0');
    } else {
      writeFileSync(join(memory.folder, 'memory.limit_in_bytes'), bytes);
      tryWrite(join(memory.folder, 'memory.memsw.limit_in_bytes'), bytes);
    }
    writeFileSync(join(pids.folder, 'pids.max'), String(processes));
    this.#limits = limits;
  }
}

/** CPU time that all processes of a group have used. Undefined: the group is gone. */
export function readCpuMs({ folder, version }: CgroupPlace): number | undefined {
  if (version === 1) return toMs(readNumber(join(folder, 'cpuacct.usage')), 1e6);
  return toMs(readField(join(folder, 'cpu.stat'), 'usage_usec'), 1e3);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function readLines(file: string): string[] {
  return (readText(file) ?? '').split('\n').filter((line) => line !== '');
}

function readNumber(file: string): number | undefined {
  const text = readText(file)?.trim();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** From a file of lines like `usage_usec 1234`. */
function readField(file: string, name: string): number | undefined {
  const line = readLines(file).find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

/** To the microsecond. */
function toMs(value: number | undefined, perMs: number): number | undefined {
  return value === undefined ? undefined : toMicroseconds(value / perMs);
}

function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function tryWrite(file: string, text: string): boolean {
  try {
    // Never creates: in a control group file system a missing file is a feature that the kernel lacks.
    writeFileSync(file, text, { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

function tryRemoveFolder(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return hasCode(error, 'ENOENT');
  }
}
