import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cgroup } from '../launch/cgroup.ts';
import type { CgroupLimits } from '../launch/cgroup.ts';
import { distinctPlaces, enableControllers, findPlaces, killPlace } from '../launch/cgroup-places.ts';
import type { CgroupPlaces } from '../launch/cgroup-places.ts';
import type { Janitor } from '../spawner/janitor.ts';
import { isOfDeadProcess, nameAfterProcess } from '../spawner/name-after-process.ts';

/**
 * The control groups of one spawner. They lie in one folder per hierarchy, named after the process, and the spawner
 * itself sits in one of them: its children are born in it, so killing the folder kills them at whatever moment.
 */
export class GroupHome {
  readonly #places: CgroupPlaces;
  #count = 0;

  private constructor(places: CgroupPlaces) {
    this.#places = places;
  }

  /**
   * Undefined when this process may not make control groups that limit memory and processes. The homes are not taken
   * down again by this process, which sits in one: the janitor does it afterwards.
   */
  static async open(
    janitor: Janitor,
    candidates: readonly CgroupPlaces[] = findCandidates(),
  ): Promise<GroupHome | undefined> {
    for (const parents of candidates) {
      const places = placesIn(parents, nameAfterProcess());
      janitor.entrustGroups(distinctPlaces(places).map(({ folder }) => folder));
      const home = new GroupHome(places);
      try {
        await home.#settle(parents);
        return home;
      } catch {
        // This process may not do it there; perhaps further up.
      }
    }
    return undefined;
  }

  openGroup(limits: CgroupLimits): Promise<Cgroup> {
    this.#count += 1;
    return Cgroup.create(this.#places, `program-${this.#count}`, limits);
  }

  async #settle(parents: CgroupPlaces): Promise<void> {
    enableControllers(parents);
    for (const { folder } of distinctPlaces(this.#places)) mkdirSync(folder);
    enableControllers(this.#places);
    // The proof: a group with limits can be made, and a process can be put in.
    const trial = await this.openGroup({ memoryBytes: 64 * 1024 * 1024, processes: 1 });
    await trial.tryRemove();
    const seat = join(killPlace(this.#places).folder, 'spawner');
    mkdirSync(seat);
    writeFileSync(join(seat, 'cgroup.procs'), String(process.pid));
  }
}

/** Homes of spawners that have ended. Nothing waits for the processes in them. */
export function findStaleHomes(candidates: readonly CgroupPlaces[] = findCandidates()): readonly string[] {
  const parents = new Set(candidates.flatMap(distinctPlaces).map(({ folder }) => folder));
  return [...parents].flatMap((parent) =>
    listFolder(parent)
      .filter(isOfDeadProcess)
      .map((name) => join(parent, name)),
  );
}

function findCandidates(): readonly CgroupPlaces[] {
  try {
    return findPlaces();
  } catch {
    return [];
  }
}

function placesIn({ cpu, memory, processes }: CgroupPlaces, name: string): CgroupPlaces {
  return {
    cpu: { ...cpu, folder: join(cpu.folder, name) },
    memory: { ...memory, folder: join(memory.folder, name) },
    processes: { ...processes, folder: join(processes.folder, name) },
  };
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
