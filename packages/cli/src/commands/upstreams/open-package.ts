import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { spellBytes, spellCount } from '@sallyport/contract';
import { isWithin } from '@sallyport/sandbox';
import { usageFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';
import { fetchPackage, isPackageSpec } from '../tools/npm-package.ts';
import type { FetchedPackage } from '../tools/npm-package.ts';
import { uploadProgram } from '../tools/tool-install.ts';
import { findKnownPackage } from './known-servers.ts';
import { readWants } from './package-wants.ts';
import type { LaunchedPackage } from './read-launcher.ts';

/** What a server gets, as far as it has to do with its package. */
export interface PackageGrants {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly hosts?: readonly string[];
  readonly secrets?: readonly string[];
}

/** A package that was fetched to become a server, and is not one yet. */
export interface OpenPackage extends AsyncDisposable {
  /** What is proposed, together with what the person gave. */
  readonly grants: PackageGrants;
  /** For the person who decides. */
  readonly fields: readonly (readonly [label: string, value: string])[];
  /** What its code names, and it does not get. Empty: nothing. */
  readonly hints: readonly string[];
  /** Sends it to the daemon. The content hash of its bundle. */
  readonly upload: () => Promise<string>;
}

/** Fetches a package and looks at it. Nothing of it runs. */
export async function openPackage(
  { spec, bin, args }: LaunchedPackage,
  given: PackageGrants & { readonly environment?: readonly string[] },
  context: CommandContext,
): Promise<OpenPackage> {
  if (!isPackageSpec(spec))
    throw usageFailure(`${makeVisibleLine(spec)} is not an npm package.`, 'Give it as NAME or NAME@VERSION.');
  if (!context.json)
    context.terminal.progress(`npm fetches ${makeVisibleLine(spec)} in the sandbox, without running its scripts`);
  await using opened = new AsyncDisposableStack();
  try {
    const fetched = opened.use(await fetchPackage(spec, bin === undefined ? {} : { bin }));
    await checkNode(fetched);
    const grants = await proposeGrants(fetched.name, args, given);
    const hints = await hintAtWants(fetched, {
      ...grants,
      ...(given.environment && { environment: given.environment }),
    });
    const kept = opened.move();
    return {
      ...{ grants, fields: describe(fetched, args), hints },
      upload: async () => (await uploadProgram(await fetched.openSource('server'), context)).content_hash,
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  } finally {
    context.terminal.progress('');
  }
}

function describe(
  { name, version, packages, parts, entry }: FetchedPackage,
  args: readonly string[],
): OpenPackage['fields'] {
  const bytes = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const size = `${spellCount(packages, 'package')}, ${spellCount(parts.length, 'file')}, ${spellBytes(bytes)}`;
  return [
    ['package', `${name} ${version} (${size}), pinned as it is now`],
    ['starts', ['node', entry, ...args].map(makeVisibleLine).join(' ')],
  ];
}

/** The gate starts it with node; a program in another language would only fail. */
async function checkNode({ folder, entry, name }: FetchedPackage): Promise<void> {
  const [first = ''] = (await readFile(join(folder, entry), 'utf8')).slice(0, 200).split('\n', 1);
  const isNode = first.startsWith('#!') ? /\bnode\b/.test(first) : /\.[cm]?js$/.test(entry);
  if (!isNode) throw usageFailure(`The program of ${name} is not for Node, so it cannot be started from the package.`);
}

/** What the person gave; where the package is known, what it needs; and the paths that it is told to use. */
async function proposeGrants(name: string, args: readonly string[], given: PackageGrants): Promise<PackageGrants> {
  const known = findKnownPackage(name);
  const { read = [], write = [] } = given;
  const found = await Promise.all(
    args.map(async (path) => path.startsWith('/') && (await stat(path).catch(() => undefined)) !== undefined),
  );
  const named = args.filter(
    (path, at) => found[at] === true && ![...read, ...write].some((folder) => isWithin(folder, path)),
  );
  if (known?.needsPath === true && read.length + write.length + named.length === 0) {
    throw usageFailure(
      `${known.name} works on folders, and none was named.`,
      `Name them: sallyport upstream add ${known.name} -- FOLDER`,
    );
  }
  const [readable, writable] = known?.paths === 'write' ? [[], named] : [named, []];
  const hosts = given.hosts ?? known?.hosts ?? [];
  const secrets = given.secrets ?? known?.secrets ?? [];
  const lists = { read: [...read, ...readable], write: [...write, ...writable], hosts, secrets };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

async function hintAtWants(
  fetched: FetchedPackage,
  { hosts = [], secrets = [], environment = [] }: PackageGrants & { readonly environment?: readonly string[] },
): Promise<readonly string[]> {
  const wants = await readWants(fetched);
  const variables = [...secrets, ...environment.map((pair) => pair.split('=', 1)[0])];
  const missing = {
    variables: wants.variables.filter((each) => !variables.includes(each)),
    hosts: wants.hosts.filter((host) => !hosts.some((granted) => granted === host || granted.startsWith(`${host}:`))),
  };
  const lines = [
    ...(missing.variables.length === 0
      ? []
      : [`variables: ${missing.variables.join(', ')} (--secrets NAME or --environment NAME=value)`]),
    ...(missing.hosts.length === 0 ? [] : [`hosts: ${missing.hosts.join(', ')} (--hosts NAME)`]),
  ];
  return lines.length === 0 ? [] : ['Its code also names what it does not get; grant what it needs:', ...lines];
}
