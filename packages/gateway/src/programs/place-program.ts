import { posix } from 'node:path';
import type { Mount } from '@sallyport/sandbox';
import type { StoredProgram, ToolStore } from './tool-store.ts';

/** Where programs see themselves. Node looks for packages in `node_modules` beside it. */
const toolsFolder = '/tool/bin';
const sdkFolder = '/tool/node_modules/@sallyport/sdk';

/** What a program from the store sees of itself, and the file to start. */
export interface PlacedProgram {
  /** As the program sees it. */
  readonly file: string;
  /** On the machine, for a program that sees all of it. */
  readonly fileOutside: string;
  readonly mounts: readonly Mount[];
}

/** `sdk`: the package that programs in Node may import. Absent: they bring their own. */
export function placeProgram(
  store: ToolStore,
  stored: StoredProgram,
  { sdk }: { readonly sdk?: string },
): PlacedProgram {
  const source = store.pathOf(stored);
  const target = `${toolsFolder}/${stored.file}`;
  return {
    file: posix.join(target, stored.entry),
    fileOutside: posix.join(source, stored.entry),
    mounts: [
      { source, target, access: 'read' },
      ...(sdk === undefined ? [] : [{ source: sdk, target: sdkFolder, access: 'read' as const }]),
    ],
  };
}

/** What tells a program how it is run; the second is for tools that were written for another gate. */
export const modeVariables: Readonly<Record<string, string>> = {
  SALLYPORT_TOOL_MODE: 'subprocess',
  GIBSON_TOOL_MODE: 'subprocess',
};
