import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { finish, perl, shell } from './programs.ts';

/** What a daemon without any privileges can do here, as one line of JSON. */
const mebibyte = 1024 * 1024;
const useMemory = (bytes: number): string => `my $s = ""; vec($s, ${bytes} - 1, 8) = 1;`;
const burn = (seconds: number): string => `1 while ((times)[0] + (times)[1] < ${seconds});`;

const strict = new SpawnerClient();
const { limits } = await strict.abilities;
const refused = await finish(strict, shell('true')).then(
  () => undefined,
  (error: unknown) => error as { code: string; remedy: string },
);
const strictPid = strict.spawnerPid;
await strict.close();

const sampled = new SpawnerClient({ enforcement: 'sampled' });
const measured = await finish(sampled, perl(`${useMemory(60 * mebibyte)} if (!fork) { ${burn(0.4)} exit } wait`));
const folder = mkdtempSync(join(tmpdir(), 'sallyport-disk-'));
/** Its children are not waited for, and can hide what they wrote. */
const fill = (first: string) =>
  perl(
    `${first} $SIG{CHLD} = "IGNORE"; my $mb = "x" x ${mebibyte};
     for (1..256) { my $p = fork; if (!$p) { open my $f, ">", "${folder}/$_"; syswrite $f, $mb; exit } waitpid $p, 0 } sleep 60`,
    { mounts: [{ source: folder, target: folder, access: 'write' }], limits: { diskBytes: 16 * mebibyte } },
  );
const ends = {
  memory: await finish(
    sampled,
    perl(`${useMemory(90 * mebibyte)} sleep 60`, { limits: { memoryBytes: 64 * mebibyte } }),
  ),
  cpu: await finish(sampled, perl(burn(60), { limits: { cpuMs: 300 } })),
  processes: await finish(sampled, perl('for (1..30) { fork or sleep 60 } sleep 60', { limits: { processes: 20 } })),
  disk: await finish(sampled, fill('')),
  hiddenDisk: await finish(sampled, fill(`syscall(${process.arch === 'x64' ? 157 : 167}, 4, 0, 0, 0, 0);`)),
  survivors: await finish(sampled, shell('(setsid sleep 5 &); setsid sleep 5 & exit 0', { isolation: 'none' })),
};
rmSync(folder, { recursive: true });
const sampledPid = sampled.spawnerPid;
await sampled.close();

process.stdout.write(
  JSON.stringify({ limits, refused: { ...refused }, measured, ends, pids: [strictPid, sampledPid] }),
);
