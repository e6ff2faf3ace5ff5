import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually, findProcesses, listLeftovers, uniqueSeconds } from './programs.ts';

export const victims = ['daemon', 'spawner', 'program'] as const;
export type Victim = (typeof victims)[number];

/** A process that runs programs as the daemon would, and what it said. */
class Load {
  readonly mark = uniqueSeconds();
  readonly spawnerPids = new Set<number>();
  readonly process: ChildProcess;
  endedWell = 0;

  constructor() {
    const script = join(import.meta.dirname, 'load-programs.ts');
    this.process = spawn(process.execPath, [script, this.mark], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.process.stdout?.on('data', (text: Buffer) => {
      for (const pid of text.toString().split('\n').filter(Boolean)) {
        if (pid !== 'undefined') this.spawnerPids.add(Number(pid));
        this.endedWell += 1;
      }
    });
  }

  async awaitMore(count: number): Promise<void> {
    const enough = this.endedWell + count;
    await eventually(() => this.endedWell >= enough, `${count} more programs end well`);
  }

  kill(victim: Victim): void {
    if (victim === 'daemon') this.process.kill('SIGKILL');
    if (victim === 'spawner') tryKill([...this.spawnerPids].at(-1));
    // Any of them: the sandbox, the shell that waits, the program, its children.
    const running = findProcesses(this.mark).filter((pid) => pid !== this.process.pid);
    if (victim === 'program') tryKill(running[Math.floor(Math.random() * running.length)]);
  }
}

/**
 * Kills one of the processes that take part, at a random moment under load. What is left must go on working; then the
 * daemon is killed too, and nothing may remain.
 */
export async function killRound(victim: Victim): Promise<void> {
  const load = new Load();
  try {
    await load.awaitMore(10);
    await sleep(Math.random() * 100);
    load.kill(victim);
    if (victim !== 'daemon') await load.awaitMore(10);
  } finally {
    const ended = once(load.process, 'exit');
    load.kill('daemon');
    await ended;
  }
  const pids = [...load.spawnerPids];
  await eventually(() => findProcesses(load.mark).length === 0, 'all processes are gone');
  await eventually(() => listLeftovers(pids).length === 0, 'all control groups and folders are gone');
}

function tryKill(pid: number | undefined): void {
  assert.ok(pid !== undefined, 'there is nothing to kill, so the load is no load');
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '100' } } });
  for (let round = 0; round < Number(values.rounds); round++) {
    const victim = victims[round % victims.length] as Victim;
    await killRound(victim);
    process.stdout.write(`round ${round + 1}: the ${victim} was killed, nothing is left\n`);
  }
}
