import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import type { Program } from '../../packages/sandbox/src/program.ts';
import { finish, shell } from './programs.ts';

/**
 * Stands for the daemon when it is to be killed: runs programs without end, eight at a time, and prints a line for
 * each that ended well, with the pid of the spawner. Every process it causes has the mark in its command line.
 */
const [, , mark = ''] = process.argv;
const client = new SpawnerClient();

const programs: readonly ((isolation: Program['isolation']) => Program)[] = [
  (isolation) => shell(`sleep 0.02; : ${mark}`, { isolation }),
  (isolation) => shell(`(setsid sleep ${mark} &) ; setsid sleep ${mark} & sleep 0.02`, { isolation }),
  (isolation) => shell(`head -c 300000 /dev/zero; : ${mark}`, { isolation }),
];

async function runForever(lane: number): Promise<never> {
  for (let n = lane; ; n++) {
    const build = programs[n % programs.length] as (typeof programs)[number];
    const ended = await finish(client, build(n % 2 === 0 ? 'sandbox' : 'none')).catch(() => undefined);
    if (ended?.how.kind === 'exited') process.stdout.write(`${client.spawnerPid}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, lane) => runForever(lane)));
