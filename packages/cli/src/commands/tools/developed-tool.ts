import { existsSync, statSync, watch } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { CommandContext } from '../../command-context.ts';
import { isWithin } from '@sallyport/sandbox';
import { openProgramSource } from './program-source.ts';
import { seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions, Step } from '../../client/run-steps.ts';
import { acceptStanding, showForConsent } from './tool-accept.ts';
import { inspectProgram, putIntoFolder, uploadProgram } from './tool-install.ts';
import { parseToolReference, readStanding } from './tool-standing.ts';
import type { ToolStanding } from './tool-standing.ts';

/** A tool that somebody is working on. */
export interface DevelopedTool {
  /** The file or folder that is being changed. */
  readonly path: string;
  /** As it is now, accepted. */
  readonly load: () => Promise<ToolStanding>;
  /** Hears once of the next change. */
  readonly onChange: (listener: () => void) => Disposable;
}

/** Editors write in several steps. */
const settleMs = 150;

/** A tool of the tools folder by its name, or a file or folder elsewhere, of which a copy is installed at each change. */
export async function openDevelopedTool(
  what: string,
  options: ConsentOptions,
  step: Step,
  context: CommandContext,
): Promise<DevelopedTool> {
  const accept = acceptWhileDeveloping(options, step, context);
  const { toolsFolder } = context.config;
  const path = resolve(what);
  if (existsSync(path) && !isWithin(toolsFolder, path)) {
    const load = async () => {
      const content = await uploadProgram(await openProgramSource(path, {}), context);
      const standing = await inspectProgram(content, step);
      return accept(standing, () => putIntoFolder(content, standing, step));
    };
    return { path, load, onChange: watchPath(path) };
  }
  const reference = isWithin(toolsFolder, path) && existsSync(path) ? nameOf(path) : what;
  const { file, origin } = await readStanding(parseToolReference(reference), step);
  const isInYaml = origin === 'configured' || origin === 'pipeline';
  const own = join(toolsFolder, ...(isInYaml ? [file] : ['bin', file]));
  const load = async () => {
    const standing = await readStanding(parseToolReference(reference), step);
    return accept(standing, () => acceptStanding(standing, step));
  };
  return { path: own, load, onChange: watchPath(own) };
}

/** Asks when the tool is first seen in a form that nobody has accepted; after that, saving it is enough. */
function acceptWhileDeveloping(options: ConsentOptions, step: Step, context: CommandContext) {
  let hasAgreed = options.yes ?? false;
  return async (standing: ToolStanding, accept: () => Promise<ToolStanding>): Promise<ToolStanding> => {
    const { name, version, accepted } = standing;
    if (!accepted && !hasAgreed) {
      await showForConsent(standing, context);
      await seekConsent('Accept it as it is, and each time you save it while this runs?', options, context);
      hasAgreed = true;
    }
    if (accepted) return standing;
    await accept();
    return readStanding({ name, version }, step);
  };
}

/** `text.count@1.2.0.py` stands for `text.count@1.2.0`. */
function nameOf(path: string): string {
  return basename(path).replace(/\.(?:ts|js|mjs|py|sh)$/, '');
}

function watchPath(path: string): DevelopedTool['onChange'] {
  return (listener) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    // Editors replace the file with a new one, so we watch the folder.
    const watched = isFolder ? path : dirname(path);
    let settling: NodeJS.Timeout | undefined;
    const watcher = watch(watched, { recursive: isFolder }, (_event, file) => {
      if (!isFolder && file !== basename(path)) return;
      clearTimeout(settling);
      settling = setTimeout(listener, settleMs);
    });
    return {
      [Symbol.dispose]: () => {
        clearTimeout(settling);
        watcher.close();
      },
    };
  };
}
