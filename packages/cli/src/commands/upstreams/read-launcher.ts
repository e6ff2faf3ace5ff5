import { basename } from 'node:path';
import { usageFailure } from '../../client/failure.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';
import { isPackageSpec } from '../tools/npm-package.ts';

/** A package that a command would fetch at every start. */
export interface LaunchedPackage {
  readonly spec: string;
  /** Absent: its own. */
  readonly bin?: string;
  readonly args: readonly string[];
}

/** Programs that fetch an npm package and run it, with the words that say so. */
const npmLaunchers: readonly (readonly string[])[] = [
  ['npx'],
  ['npm', 'exec'],
  ['npm', 'x'],
  ['pnpx'],
  ['pnpm', 'dlx'],
  ['yarn', 'dlx'],
  ['bunx'],
  ['bun', 'x'],
];

/** Programs that fetch something else, and what to do instead. */
const otherLaunchers: readonly { readonly words: readonly string[]; readonly why: string; readonly instead: string }[] =
  [
    ...[['uvx'], ['uv', 'tool', 'run'], ['uv', 'run'], ['pipx', 'run']].map((words) => ({
      words,
      why: 'fetches a Python package anew at every start, and nothing is fetched inside the sandbox',
      instead:
        'Install it once, into a folder of its own (`uv pip install --target FOLDER PACKAGE`), and add `-- python3 -m MODULE` with --read FOLDER and --environment PYTHONPATH=FOLDER.',
    })),
    ...[['docker'], ['podman'], ['nerdctl']].map((words) => ({
      words,
      why: 'starts a container, which runs outside of the sandbox with whatever rights its own daemon has',
      instead:
        'Start the container yourself with its HTTP transport and add its address with --url, or add the npm package that it contains with --npm.',
    })),
  ];

/**
 * The npm package that a command of the usual form, such as `npx -y PACKAGE arguments`, would fetch and run. Undefined:
 * it is a plain command. Throws for commands that fetch something else.
 */
export function readLauncher(command: readonly string[]): LaunchedPackage | undefined {
  const words = [basename(command[0] ?? ''), ...command.slice(1)];
  const begins = (start: readonly string[]): boolean => start.every((word, at) => words[at] === word);
  const other = otherLaunchers.find((launcher) => begins(launcher.words));
  if (other !== undefined) throw usageFailure(`${other.words.join(' ')} ${other.why}.`, other.instead);
  const launcher = npmLaunchers.find(begins);
  return launcher === undefined ? undefined : readWords(words.slice(launcher.length), launcher.join(' '));
}

function readWords(words: readonly string[], launcher: string): LaunchedPackage {
  let named: string | undefined;
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) break;
    if (word === '--') {
      at += 1;
      break;
    }
    if (word === '-c' || word === '--call') {
      throw usageFailure(
        `${launcher} ${word} runs a shell.`,
        'Name the package with --npm, and its arguments after --.',
      );
    }
    if (word === '-p' || word === '--package') named = words[++at];
    else if (word.startsWith('--package=')) named = word.slice('--package='.length);
  }
  const [first, ...args] = words.slice(at);
  const spec = named ?? first;
  if (spec === undefined || !isPackageSpec(spec)) {
    throw usageFailure(`${launcher} names no package of a registry: ${makeVisibleLine(spec ?? '')}`.trimEnd());
  }
  if (named === undefined) return { spec, args };
  return { spec, ...(first === undefined ? {} : { bin: first }), args };
}
