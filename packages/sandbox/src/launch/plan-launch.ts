import { ProgramNotStarted } from '../program.ts';
import type { Program } from '../program.ts';
import { checkProgram } from './check-program.ts';
import type { Launch } from './launch.ts';
import { planBubblewrap } from './plan-bubblewrap.ts';
import type { SandboxMachine } from './sandbox-machine.ts';
import { planSeatbelt } from './seatbelt.ts';

/**
 * How to start a program so that it sees and uses only what it names. Whatever `isolation` says, it is confined.
 *
 * Reads the file system to check the mounts, and changes nothing. What was checked can be replaced until the sandbox
 * is built: open paths as `LaunchDescriptor` says, and pass through a `MountGate` with the claims of the launch. Throws
 * ProgramNotStarted when the program cannot be confined as it asks.
 */
export function planLaunch(program: Program, machine: SandboxMachine): Launch {
  checkProgram(program);
  try {
    return machine.mechanism === 'bubblewrap' ? planBubblewrap(program, machine) : planSeatbelt(program, machine);
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    throw new ProgramNotStarted(
      'EXECUTION_ERROR',
      `A path that the program should see cannot be looked at, or has just changed: ${error.code}.`,
      { cause: error, isTransient: true },
    );
  }
}

function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
