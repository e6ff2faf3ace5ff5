import { defaultProgramLimits, ProgramNotStarted } from '@sallyport/sandbox';
import type { ProgramRunner } from '@sallyport/sandbox';
import type { Check } from '../../catalogue/self/check.ts';

const name = 'program';
const patienceMs = 20_000;

/** Runs a small program in the sandbox, by the same service and under the same limits as those of tools. */
export async function tryProgram(programs: ProgramRunner): Promise<Check> {
  try {
    const { how } = await programs.run(
      {
        argv: ['/usr/bin/true'],
        environment: {},
        workingDirectory: '/',
        stdin: new Uint8Array(),
        ...{ mounts: [], hosts: [], limits: defaultProgramLimits, isolation: 'sandbox' },
      },
      { signal: AbortSignal.timeout(patienceMs), onStdout: () => undefined, onStderr: () => undefined },
    );
    if (how.kind === 'exited' && how.code === 0) return { name, state: 'ok', message: 'run in the sandbox' };
    return { name, state: 'fail', message: `A program that does nothing did not end well: ${JSON.stringify(how)}` };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const remedy = error instanceof ProgramNotStarted ? error.remedy : undefined;
    return { name, state: 'fail', message: error.message, ...(remedy === undefined ? {} : { remedy }) };
  }
}
