import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { installToolFile } from '../install-tool-file.ts';
import type { ToolFileBytes } from '../install-tool-file.ts';
import type { OfferedTools } from '../tool-offer.ts';
import { executableSource } from './executable-source.ts';
import type { ExecutableSourceOptions } from './executable-source.ts';

/** Longer than any program is given. */
const longPatienceMs = 60_000;

/** What a program would be if it lay in the tools folder. */
export type InspectProgram = (program: ToolFileBytes, signal: AbortSignal) => Promise<OfferedTools>;

/** Looks at programs apart from the tools folder, where a rule may accept every new file. `drafts`: for that alone. */
export function inspectProgramIn(drafts: string, options: Omit<ExecutableSourceOptions, 'folder'>): InspectProgram {
  return async (program, signal) => {
    const folder = join(drafts, randomUUID());
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await installToolFile(folder, program);
      // Nobody else writes there, so there is nothing to wait for.
      return await executableSource({ ...options, folder, quietMs: 0, patienceMs: longPatienceMs }).list(signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}
