import type { JsonObject } from '@sallyport/contract';
import { canonicalJson } from '@sallyport/contract';
import { defaultProgramLimits, isWithin } from '@sallyport/sandbox';
import type { Program } from '@sallyport/sandbox';
import type { ToolContext } from '../../call/tool.ts';
import { modeVariables } from '../place-program.ts';
import type { PlacedProgram } from '../place-program.ts';
import { unattended, viewFor } from './mounts-for.ts';
import type { ProgramView, ViewContext } from './mounts-for.ts';

/** For a program without a sandbox, which brings its own. */
const plainEnvironment = { PATH: '/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' };
const anywhere = '/tmp';

/** A program, and what is to be done about what it left behind. */
export interface BuiltProgram {
  readonly program: Program;
  readonly attend: ProgramView['attend'];
  /**
   * Nothing of what it sees and gets was looked for, opened or read for this call: no granted folder, whose forbidden
   * files are found when the call comes, and no secret. So it may be put together before the next call comes.
   */
  readonly canBeAhead: boolean;
}

/**
 * A program as the rules let it run in this call: it sees and gets what they grant, and nothing else. It starts in the
 * folder of the session if it may see it. Throws ToolRefused when what the rules forbid cannot be hidden from it.
 */
export async function buildProgram(
  { file, fileOutside, mounts: ownMounts }: PlacedProgram,
  given: { readonly args: readonly string[]; readonly stdin: Uint8Array },
  context: ViewContext & Pick<ToolContext, 'readSecrets' | 'workingDirectory'>,
): Promise<BuiltProgram> {
  const { environment, hosts, unixSockets, limits, isolation } = context.grants;
  const isConfined = isolation === 'sandbox';
  const { mounts: granted, attend } = isConfined ? await viewFor(context) : unattended;
  const isVisible = granted.some(({ target }) => isWithin(target, context.workingDirectory));
  const secrets = context.readSecrets();
  const program: Program = {
    argv: [isConfined ? file : fileOutside, ...given.args],
    environment: {
      ...(isConfined ? {} : plainEnvironment),
      ...environment,
      ...secrets,
      // Last: no rule should make a program believe that it is run otherwise.
      ...modeVariables,
    },
    workingDirectory: isVisible || !isConfined ? context.workingDirectory : anywhere,
    stdin: given.stdin,
    mounts: isConfined ? [...ownMounts, ...granted] : [],
    hosts,
    unixSockets,
    limits: { ...defaultProgramLimits, ...limits },
    isolation,
  };
  const canBeAhead = isConfined && granted.length === 0 && Object.keys(secrets).length === 0;
  return { program, attend, canBeAhead };
}

/** The arguments as a program reads them: exactly the JSON that was judged, on one line. */
export function writeArguments(args: JsonObject): Uint8Array {
  return Buffer.from(`${canonicalJson(args)}\n`);
}
