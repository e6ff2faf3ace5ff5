// A daemon's part of running programs, in a process of its own so that it can belong to any user.

import { defaultProgramLimits } from '../../packages/sandbox/src/program.ts';
import type { Program } from '../../packages/sandbox/src/program.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';

export interface GateOrder {
  readonly id: number;
  readonly program: Partial<Omit<Program, 'limits'>> &
    Pick<Program, 'argv'> & { readonly limits?: Partial<Program['limits']> };
  readonly timeoutMs: number;
}

export interface GateAnswer {
  readonly id: number;
  /** `refused`: nothing ran. */
  readonly how: { readonly kind: string; readonly code?: number; readonly limit?: string; readonly message?: string };
  readonly remedy?: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

const client = new SpawnerClient({
  enforcement: 'sampled',
  onTrouble: (message) => void process.stderr.write(`${message}\n`),
});

async function run({ id, program, timeoutMs }: GateOrder): Promise<GateAnswer> {
  const output = { stdout: '', stderr: '' };
  try {
    const { how } = await client.run(
      {
        environment: {},
        workingDirectory: '/tmp',
        stdin: new Uint8Array(),
        mounts: [],
        hosts: [],
        isolation: 'sandbox',
        ...program,
        limits: { ...defaultProgramLimits, ...program.limits },
      },
      {
        signal: AbortSignal.timeout(timeoutMs),
        onStdout: (chunk) => void (output.stdout += Buffer.from(chunk).toString('latin1')),
        onStderr: (chunk) => void (output.stderr += Buffer.from(chunk).toString('latin1')),
      },
    );
    return { id, how, ...output };
  } catch (error) {
    const { message, remedy, code } = error as Error & { remedy?: string; code?: string };
    return { id, how: { kind: 'refused', message: `${code}: ${message}` }, remedy, ...output };
  }
}

process.on('message', (order: GateOrder | 'close') => {
  if (order === 'close') void client.close().then(() => process.exit(0));
  else void run(order).then((answer) => process.send?.(answer));
});
process.send?.({ spawnerPid: client.spawnerPid, abilities: await client.abilities });
