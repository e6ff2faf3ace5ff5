import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '@sallyport/sandbox';
import { ToolFailure } from '../../call/tool.ts';
import { resolveProgram } from '../shell/resolve-program.ts';

/** An application as the machine's own list describes it. */
export interface Application {
  readonly title: string;
  /** What starts it, without any file or address. */
  readonly argv: readonly [string, ...string[]];
}

/** Of the machine alone: a list in a home or a workspace could be written by an agent. */
const folders = ['/usr/share/applications', '/usr/local/share/applications'];
const mostBytes = 256 * 1024;
/** Anybody but root could have changed it. */
const writableByOthers = 0o022;

/** Throws ToolFailure for what is no application, cannot be trusted, or needs a terminal; ToolRefused without its program. */
export function findApplication(name: string, lists: readonly string[] = folders): Application {
  const text = readEntry(name, lists);
  if (text === undefined) throw new ToolFailure('NOT_FOUND', `There is no application ${name} on this machine.`);
  const entry = parseEntry(text);
  const [program, ...words] = splitCommand(entry.get('Exec') ?? '');
  if (entry.get('Type') !== 'Application' || program === undefined) {
    throw new ToolFailure('NOT_FOUND', `${name} is not an application that can be started.`);
  }
  if (entry.get('Terminal') === 'true') {
    throw new ToolFailure('EXECUTION_ERROR', `${name} runs in a terminal, which apps.open does not open.`);
  }
  return { title: entry.get('Name') ?? name, argv: [resolveProgram(program, '/').path, ...words] };
}

function readEntry(name: string, lists: readonly string[]): string | undefined {
  for (const folder of lists) {
    try {
      const file = realpathSync.native(join(folder, `${name}.desktop`));
      const { uid, mode, size } = statSync(file);
      const isSafe = lstatSync(file).isFile() && uid === 0 && (mode & writableByOthers) === 0 && size <= mostBytes;
      if (isSafe) return readFileSync(file, 'utf8');
      throw new ToolFailure('EXECUTION_ERROR', `Users other than the administrator can change ${file}.`);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  return undefined;
}

/** The keys of the first group, without those of other languages. */
function parseEntry(text: string): ReadonlyMap<string, string> {
  const entry = new Map<string, string>();
  let group = '';
  for (const line of text.split('\n').map((each) => each.trim())) {
    const [, opened] = /^\[(.+)\]$/.exec(line) ?? [];
    if (opened !== undefined) group = opened;
    const [, key, value] = /^([A-Za-z0-9-]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (group === 'Desktop Entry' && key !== undefined && value !== undefined && !entry.has(key)) entry.set(key, value);
  }
  return entry;
}

/**
 * The words of an Exec line. Words that stand for a file or an address go, whatever their kind; so nothing that a caller
 * names can come to the application.
 */
function splitCommand(exec: string): readonly string[] {
  const unescaped = exec.replace(/\\\\/g, '\\').replace(/\\s/g, ' ');
  const words = [...unescaped.matchAll(/"((?:[^"\\]|\\.)*)"|([^\s"]+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replace(/\\(["`$\\])/g, '$1'),
  );
  return words.filter((word) => !/%[^%]/.test(word)).map((word) => word.replaceAll('%%', '%'));
}
