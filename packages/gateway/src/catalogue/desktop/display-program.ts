import { existsSync } from 'node:fs';
import { defaultProgramLimits } from '@sallyport/sandbox';
import type { Program, ProgramLimits } from '@sallyport/sandbox';
import { displayVariables } from './desktop-session.ts';
import type { DesktopEnvironment } from './desktop-session.ts';

interface DisplayProgram {
  readonly argv: readonly [string, ...string[]];
  /** Absent: nothing. */
  readonly stdin?: Uint8Array;
  /** Absent: the usual ones. */
  readonly limits?: ProgramLimits;
}

const displaySockets = '/tmp/.X11-unix';

/** A program in the sandbox that sees the display, no file of anybody and no network. Throws ToolFailure without a display. */
export function displayProgram(
  { argv, stdin = new Uint8Array(), limits = defaultProgramLimits }: DisplayProgram,
  environment: DesktopEnvironment,
): Program {
  const display = displayVariables(environment);
  const { XAUTHORITY: cookie } = display;
  const shown = [displaySockets, ...(cookie === undefined ? [] : [cookie])].filter((path) => existsSync(path));
  return {
    ...{ argv, stdin, limits, workingDirectory: '/tmp', hosts: [] },
    environment: { ...display, HOME: '/tmp' },
    mounts: shown.map((path) => ({ source: path, target: path, access: 'read' })),
    unixSockets: true,
    isolation: 'sandbox',
  };
}
