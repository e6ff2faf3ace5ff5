import { basename, dirname, join, resolve } from 'node:path';
import type { Access } from '@sallyport/sandbox';
import { listClientConfiguration, projectEntries } from '../guarantees/agent-clients.ts';
import { foldPath, withAlias } from '../patterns/canonical-path.ts';
import { isWithin } from '@sallyport/sandbox';
import { ruleFileNames } from '../language/rule.ts';

/** The folders of the gate and of the person it works for. Absolute. */
export interface GateFolders {
  /** $SALLYPORT_HOME. Its `workspace` subfolder is not protected. */
  readonly home: string;
  readonly programFolder: string;
  readonly rulesFolder: string;
  readonly userHome: string;
  /** Says where clients moved their configuration, and the operator the tools. Absent: this process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface ProtectedPaths {
  /** Why no rule opens the path, as the end of a sentence; undefined when rules may decide. Expects a canonical path. */
  readonly explain: (path: string, access: Access) => string | undefined;
}

interface Root {
  readonly folded: string;
  readonly owner: typeof gate | typeof client;
}

const gate = "Sallyport's own files";
const client = 'the configuration of an agent client';
const project = 'the rules of a project';

/** In any project: rules of its own, of which an operator decides. */
const projectFolder = '.sallyport';

const componentEnd = '(?:/|$)';
const unlessWorkspace = `(?!/workspace${componentEnd})`;
// Clients put checked-out branches below their own folders; those are projects, with protected entries of their own.
const unlessWorktree = '(?!/worktrees/[^/])';

/** Where the operator keeps tools, if not in the home: anyone who writes there decides what the gate runs. */
export function movedToolsFolder(environment: NonNullable<GateFolders['environment']>): string | undefined {
  const { SALLYPORT_TOOLS: folder } = environment;
  return folder ? resolve(folder) : undefined;
}

/**
 * What stays closed whatever the rules say. Case, composition and invisible characters are ignored, because some file
 * systems ignore them. Links are followed once, here; a tool's own check of what it opened covers links made later.
 */
export function protectPaths(folders: GateFolders): ProtectedPaths {
  const { home, programFolder, rulesFolder, userHome, environment = process.env } = folders;
  const ruleFiles = ruleFileNames.map((name) => join(rulesFolder, name));
  const homes = rootsOf([home], gate);
  const tools = movedToolsFolder(environment);
  const own = rootsOf([programFolder, rulesFolder, ...ruleFiles, ...(tools === undefined ? [] : [tools])], gate);
  const clients = rootsOf(listClientConfiguration(resolve(userHome), environment), client);
  const roots = [...homes, ...own, ...clients];

  const insideRoot = oneOfPaths([
    ...homes.map(({ folded }) => ({ path: folded, unless: unlessWorkspace })),
    ...own.map(({ folded }) => ({ path: folded, unless: '' })),
    ...clients.map(({ folded }) => ({ path: folded, unless: unlessWorktree })),
  ]);
  const insideProjectEntry = oneOf([
    ...projectEntries.map((entry) => RegExp.escape(entry) + unlessWorktree),
    // The home of the gate is often called so too, and its workspace is open.
    RegExp.escape(projectFolder) + unlessWorkspace,
  ]);
  const inside = new RegExp(`^${insideRoot}${componentEnd}|/${insideProjectEntry}${componentEnd}`);

  // A caller that can rename the folder around a protected path can reach it under another name.
  const aroundRoot = new Set(roots.flatMap(({ folded }) => listAncestors(folded)));
  const entryFolders = projectEntries.filter((entry) => entry.includes('/')).map((entry) => dirname(entry));
  const aroundProjectEntry = new RegExp(`/${oneOf(entryFolders.map((folder) => RegExp.escape(folder)))}$`);

  return {
    explain: (path, access) => {
      const folded = foldPath(path);
      if (inside.test(folded)) {
        const owner = roots.find((root) => isWithin(root.folded, folded))?.owner;
        return `belongs to ${owner ?? (folded.includes(`/${projectFolder}`) ? project : client)}`;
      }
      if (access !== 'read' && (aroundRoot.has(folded) || aroundProjectEntry.test(folded))) {
        return `contains ${roots.find((root) => isWithin(folded, root.folded))?.owner ?? client}`;
      }
      return undefined;
    },
  };
}

function rootsOf(paths: readonly string[], owner: Root['owner']): readonly Root[] {
  const spellings = paths.flatMap((path) => withAlias(resolve(path)));
  return [...new Set(spellings.map(foldPath))].map((folded) => ({ folded, owner }));
}

function listAncestors(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...listAncestors(parent)];
}

function oneOf(sources: readonly string[]): string {
  return `(?:${sources.join('|')})`;
}

/** Sorted by folder, so that a path is compared with each folder once instead of with each root. */
function oneOfPaths(entries: readonly { readonly path: string; readonly unless: string }[]): string {
  const byFolder = Map.groupBy(entries, ({ path }) => dirname(path));
  const groups = [...byFolder].map(([folder, members]) => {
    // The root of the file system has no name: its slash is what everything starts with.
    const names = members.map(({ path, unless }) => (path === '/' ? '' : `/${RegExp.escape(basename(path))}`) + unless);
    return (folder === '/' ? '' : RegExp.escape(folder)) + oneOf(names);
  });
  return oneOf(groups);
}
