import { readdirSync, readFileSync } from 'node:fs';
import type { CgroupLimits, CgroupUsage } from '../launch/cgroup.ts';
import type { Confinement } from '../spawner/confinement.ts';
import { readProcess, readResidentBytes } from './read-process.ts';
import type { ProcessFacts } from './read-process.ts';

const sampleEveryMs = 20;

/**
 * Watches a program where there are no control groups: looks at its processes every 20 ms. What lives shorter is not
 * seen, and a process that leaves its group and its parents between two looks is lost; so this is used only when the
 * operator accepts sampling.
 */
export class ProcessTree implements Confinement {
  readonly measuredBy = 'sampled';
  readonly #limits: CgroupLimits;
  /** When each was started, by pid. */
  readonly #known = new Map<number, string>();
  #root: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #usage: { cpuMs: number; peakMemoryBytes: number } | undefined;
  #reached: 'memoryBytes' | 'processes' | undefined;

  constructor(limits: CgroupLimits) {
    this.#limits = limits;
  }

  add(pid: number): Promise<void> {
    this.#root = pid;
    const facts = readProcess(pid);
    if (facts !== undefined) this.#known.set(pid, facts.startTicks);
    this.#timer = setInterval(() => this.#sample(), sampleEveryMs);
    return Promise.resolve();
  }

  readUsage(): CgroupUsage {
    return this.#usage ?? {};
  }

  readCpuMs(): number | undefined {
    return this.#usage?.cpuMs;
  }

  listProcesses(): readonly number[] {
    return this.#findAlive().map(({ pid }) => pid);
  }

  findReachedLimit(): 'memoryBytes' | 'processes' | undefined {
    return this.#reached;
  }

  kill(): void {
    for (const { pid } of this.#findAlive()) tryKill(pid);
    if (this.#root !== undefined) tryKill(-this.#root);
  }

  isEmpty(): boolean {
    return this.#findAlive().length === 0 && !hasMembers(this.#root);
  }

  tryRemove(): Promise<boolean> {
    clearInterval(this.#timer);
    return Promise.resolve(true);
  }

  #sample(): void {
    const alive = this.#findAlive();
    if (alive.length === 0) return;
    const cpuMs = alive.reduce((sum, facts) => sum + facts.cpuMs, 0);
    const memoryBytes = alive.reduce((sum, { pid }) => sum + readResidentBytes(pid), 0);
    this.#usage = {
      cpuMs: Math.max(cpuMs, this.#usage?.cpuMs ?? 0),
      peakMemoryBytes: Math.max(memoryBytes, this.#usage?.peakMemoryBytes ?? 0),
    };
    if (memoryBytes > this.#limits.memoryBytes) this.#reached ??= 'memoryBytes';
    if (alive.length > this.#limits.processes) this.#reached ??= 'processes';
  }

  /** The processes known before, as far as they live, and all their descendants. */
  #findAlive(): ProcessFacts[] {
    const alive: ProcessFacts[] = [];
    const seen = new Set<number>();
    const queue = [...this.#known.keys()];
    for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
      if (seen.has(pid)) continue;
      seen.add(pid);
      const facts = readProcess(pid);
      const isOurs = facts !== undefined && (this.#known.get(pid) ?? facts.startTicks) === facts.startTicks;
      if (!isOurs || facts.isZombie) {
        this.#known.delete(pid);
        continue;
      }
      this.#known.set(pid, facts.startTicks);
      alive.push(facts);
      queue.push(...readChildren(pid));
    }
    return alive;
  }
}

function readChildren(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Asking the kernel would not do: it counts those that are dead and not yet waited for. */
function hasMembers(groupId: number | undefined): boolean {
  return readdirSync('/proc').some((name) => {
    const facts = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
    return facts !== undefined && facts.groupId === groupId && !facts.isZombie;
  });
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
