import { existsSync } from 'node:fs';
import { ToolFailure } from '../../call/tool.ts';

/** What the daemon knows of the desktop in front of the machine. */
export type DesktopEnvironment = Readonly<Record<string, string | undefined>>;

const noDesktop = { forOperators: 'Start the daemon in your desktop session, so that it has its environment.' };

/** What a program needs to show something there, or to use its clipboard. Throws ToolFailure when there is no display. */
export function displayVariables({ DISPLAY, XAUTHORITY, HOME }: DesktopEnvironment): Record<string, string> {
  if (!DISPLAY) throw new ToolFailure('EXECUTION_ERROR', 'There is no display: DISPLAY is not set.', noDesktop);
  return { DISPLAY, ...(XAUTHORITY ? { XAUTHORITY } : {}), ...(HOME ? { HOME } : {}), LANG: 'C.UTF-8' };
}

/** What a program needs to speak to the services of the session. Throws ToolFailure when there is no session. */
export function busVariables(environment: DesktopEnvironment): Record<string, string> {
  const { DBUS_SESSION_BUS_ADDRESS: bus, XDG_RUNTIME_DIR: folder } = environment;
  const address = bus || (folder && existsSync(`${folder}/bus`) ? `unix:path=${folder}/bus` : undefined);
  if (address === undefined) {
    throw new ToolFailure('EXECUTION_ERROR', 'There is no desktop session: it has no message bus.', noDesktop);
  }
  return { DBUS_SESSION_BUS_ADDRESS: address, LANG: 'C.UTF-8' };
}

/** Throws ToolFailure when a program is not installed. `debian`: the package that has it. */
export function requireProgram(file: string, debian: string): string {
  if (existsSync(file)) return file;
  const forOperators = `Install it: \`apt-get install ${debian}\`.`;
  throw new ToolFailure('EXECUTION_ERROR', `${debian} is not installed on this machine.`, { forOperators });
}
