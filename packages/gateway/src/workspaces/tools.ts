import { resolve } from 'node:path';
import { wholeText } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { ConfigError } from '../call/fault.ts';
import type { Session } from '../call/session.ts';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool, Tool, ToolContext } from '../call/tool.ts';
import type { GateFolders } from '../policy/judge/protected-paths.ts';
import { resolveRoot } from '../policy/judge/resolve-workspace.ts';
import { resolveLinks } from '../policy/patterns/canonical-path.ts';
import { defineAdministration } from '../registry/administration.ts';
import { readRoot } from '../sessions/tools/lease-arguments.ts';
import type { EndSession } from '../sessions/tools/sessions.ts';
import type { Store, WorkspaceRoot } from '../storage/stores.ts';
import { hashProjectRules, parseProjectRules, projectRulesFile, readProjectFile } from './project-rules.ts';
import type { InspectedRoot, WorkspaceBook } from './workspace-book.ts';

export interface WorkspaceToolParts {
  readonly book: WorkspaceBook;
  readonly store: Pick<Store, 'putWorkspaceRoot' | 'removeWorkspaceRoot' | 'liveSessions'>;
  readonly folders: GateFolders;
  readonly endSession: EndSession;
  /** Hears that calls are judged otherwise from now on. */
  readonly onChanged: () => void;
}

interface PathArgument {
  readonly path: string;
}

const pathProperty: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 4096,
  description: 'An absolute path of a folder.',
};

/** In which folders sessions may work, and which rules of their projects are in force. */
export function workspaceTools(parts: WorkspaceToolParts): readonly AnyTool[] {
  return [addTool(parts), listTool(parts), showTool(parts), acceptTool(parts), removeTool(parts)];
}

interface WorkspaceTool<Args> {
  readonly name: string;
  readonly description: string;
  readonly mutates: boolean;
  /** All but `optional` are required. */
  readonly properties: JsonObject;
  readonly optional?: readonly string[];
  readonly required: readonly string[];
  readonly effect: (args: Args) => { readonly summary: string; readonly detail?: string };
  readonly run: (args: Args, context: ToolContext) => Json | Promise<Json>;
}

function defineTool<Args>(tool: WorkspaceTool<Args>): AnyTool {
  const { name, description, mutates, properties, optional = [], required, effect, run } = tool;
  const wanted = Object.keys(properties).filter((key) => !optional.includes(key));
  const built: Tool<Args> = {
    definition: defineAdministration({
      ...{ name, description, mutates, idempotent: true },
      inputSchema: { type: 'object', additionalProperties: false, required: wanted, properties },
      outputSchema: { type: 'object', required: [...required] },
    }),
    claim: () => ({ paths: [] }),
    preview: async (args) => ({ detail: '', ...effect(args), undoable: true }),
    run: async (args, context) => run(args, context),
    summarize: (args) => effect(args).summary,
  };
  return built as unknown as AnyTool;
}

function addTool({ book, store, folders, onChanged }: WorkspaceToolParts): AnyTool {
  return defineTool<PathArgument>({
    name: 'workspaces.add',
    description: 'Accepts a folder: sessions may work in it from now on. What other sessions reach does not grow.',
    mutates: true,
    properties: { path: pathProperty },
    required: ['path'],
    effect: ({ path }) => ({ summary: `Accept ${shown(path)} as a folder that sessions may work in.` }),
    run: async ({ path }, { session }) => {
      const root = usableFolder(path, folders);
      if (book.roots.includes(root)) return { path: root, added: false };
      await store.putWorkspaceRoot({ path: root, addedAtMs: Date.now(), addedBy: session.agent });
      onChanged();
      return { path: root, added: true };
    },
  });
}

function listTool({ book, store }: WorkspaceToolParts): AnyTool {
  return defineTool<object>({
    name: 'workspaces.list',
    description: 'Lists the folders that sessions may work in, and whether the rules of their projects are in force.',
    mutates: false,
    properties: {},
    required: ['workspaces'],
    effect: () => ({ summary: 'List the accepted folders.' }),
    run: () => {
      const sessions = store.liveSessions().filter(({ status }) => status === 'active');
      return { workspaces: book.inspect().map((root) => describeRoot(root, sessionsIn(root.path, sessions, book))) };
    },
  });
}

function showTool({ book, folders }: WorkspaceToolParts): AnyTool {
  return defineTool<PathArgument>({
    name: 'workspaces.show',
    description: 'Shows the rules of a project: as the file is now, and as an operator accepted them.',
    mutates: false,
    properties: { path: pathProperty },
    required: ['path', 'file', 'rules'],
    effect: ({ path }) => ({ summary: `Show the rules of the project ${shown(path)}.` }),
    run: ({ path }) => {
      const root = acceptedRoot(path, book);
      const inspected = book.inspect().find((each) => each.path === root) as InspectedRoot;
      const { bytes } = readProjectFile(root);
      return {
        path: root,
        file: projectRulesFile(root),
        rules: inspected.state,
        ...(bytes === undefined ? {} : describeBytes(root, bytes, folders.userHome)),
        ...describeAccepted(inspected),
      };
    },
  });
}

function acceptTool({ book, store, folders, onChanged }: WorkspaceToolParts): AnyTool {
  return defineTool<PathArgument & { readonly sha256?: string }>({
    name: 'workspaces.accept',
    description:
      'Puts the rules of a project in force as the file is now. They only deny and ask. Without a file, none are in force.',
    mutates: true,
    properties: {
      path: pathProperty,
      sha256: {
        type: 'string',
        pattern: '^(?:[0-9a-f]{64})?$',
        description: 'Of the file that was looked at; empty: there was none. Absent: whatever the file is now.',
      },
    },
    optional: ['sha256'],
    required: ['path', 'changed'],
    effect: ({ path }) => ({
      summary: `Put the rules of the project ${shown(path)} in force.`,
      detail: describeFile(path),
    }),
    run: async ({ path, sha256 }, { session }) => {
      const root = acceptedRoot(path, book);
      const { bytes, problem } = readProjectFile(root);
      if (problem !== undefined) {
        throw new ToolFailure('EXECUTION_ERROR', `${projectRulesFile(root)} ${problem}.`);
      }
      const present = bytes === undefined ? '' : hashProjectRules(bytes);
      if (sha256 !== undefined && sha256 !== present) {
        throw new ToolFailure('FILE_CHANGED', `${projectRulesFile(root)} has changed since it was shown.`);
      }
      const count = bytes === undefined ? 0 : readCount(root, bytes, folders.userHome);
      const kept = book.find(root) ?? { path: root, addedAtMs: Date.now(), addedBy: session.agent };
      const before = kept.rules === undefined ? '' : hashProjectRules(kept.rules.bytes);
      if (before === present) return { path: root, rules_sha256: present, count, changed: false };
      const { addedAtMs, addedBy } = kept;
      const rules = bytes && { bytes, acceptedAtMs: Date.now(), acceptedBy: session.agent };
      await store.putWorkspaceRoot({ path: root, addedAtMs, addedBy, ...(rules && { rules }) });
      onChanged();
      return { path: root, rules_sha256: present, count, changed: true };
    },
  });
}

function removeTool({ book, store, endSession, onChanged }: WorkspaceToolParts): AnyTool {
  return defineTool<PathArgument>({
    name: 'workspaces.remove',
    description: 'Takes an accepted folder back, and ends the sessions that work in it.',
    mutates: true,
    properties: { path: pathProperty },
    required: ['path', 'removed', 'ended_sessions'],
    effect: ({ path }) => ({ summary: `Take ${shown(path)} back, and end the sessions that work in it.` }),
    run: async ({ path }, { session }) => {
      const named = readRoot(path);
      // The folder may be gone, and a link on the way to it another one.
      const root = book.roots.includes(named) ? named : resolveLinks(named);
      if (root === book.own) {
        throw new ToolFailure('INVALID_ARGUMENTS', `${shown(root)} is the workspace of the daemon itself.`, {
          forOperators: 'Start the daemon in another folder, or set SALLYPORT_WORKSPACE.',
        });
      }
      const active = store.liveSessions();
      const working = sessionsIn(root, active, book);
      const removed = await store.removeWorkspaceRoot(root);
      if (!removed) throw unknownRoot(root);
      for (const { id } of working) await endSession(id, session.agent);
      onChanged();
      return { path: root, removed, ended_sessions: working.length };
    },
  });
}

/** Where the operator's own sessions work is the daemon's affair. */
function sessionsIn(root: string, sessions: readonly Session[], book: WorkspaceBook): readonly Session[] {
  return sessions.filter(
    ({ principal, workspace }) => principal === 'agent' && book.findRoot(workspace ?? book.own) === root,
  );
}

/** Throws ToolFailure for a folder that sessions cannot work in. */
export function usableFolder(path: string, folders: GateFolders): string {
  const found = resolveRoot(readRoot(path), folders);
  if ('path' in found) return found.path;
  throw new ToolFailure('INVALID_ARGUMENTS', `${shown(path)} cannot be a workspace: it ${found.problem}.`);
}

function acceptedRoot(path: string, book: WorkspaceBook): string {
  const root = resolveLinks(readRoot(path));
  if (book.roots.includes(root)) return root;
  throw unknownRoot(root);
}

function unknownRoot(root: string): ToolFailure {
  return new ToolFailure('NOT_FOUND', `${shown(root)} is not an accepted folder.`, {
    forOperators: '`sallyport workspace list` shows them.',
  });
}

function describeRoot(root: InspectedRoot, sessions: readonly Session[]): JsonObject {
  const { path, isOwn, state, addedAtMs, addedBy } = root;
  return {
    path,
    own: isOwn,
    ...(addedAtMs === undefined || isOwn
      ? {}
      : { added_at: new Date(addedAtMs).toISOString(), added_by: addedBy ?? '' }),
    rules: state,
    ...(root.rules === undefined ? {} : { accepted_sha256: hashProjectRules(root.rules.bytes) }),
    sessions: sessions.length,
  };
}

function describeAccepted({ rules }: Pick<Partial<WorkspaceRoot>, 'rules'>): JsonObject {
  if (rules === undefined) return {};
  return {
    accepted_sha256: hashProjectRules(rules.bytes),
    accepted_text: Buffer.from(rules.bytes).toString(),
    accepted_at: new Date(rules.acceptedAtMs).toISOString(),
    accepted_by: rules.acceptedBy,
  };
}

function describeBytes(root: string, bytes: Uint8Array, userHome: string): JsonObject {
  const text = { sha256: hashProjectRules(bytes), text: Buffer.from(bytes).toString() };
  try {
    return { ...text, count: parseProjectRules(root, bytes, userHome).length };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ...text, problem: error.message };
  }
}

function describeFile(path: string): string {
  const { bytes, problem } = readProjectFile(resolveLinks(resolve(path)));
  if (problem !== undefined) return `The file ${problem}.\n`;
  return bytes === undefined ? 'The project has no rules, so none will be in force.\n' : Buffer.from(bytes).toString();
}

function readCount(root: string, bytes: Uint8Array, userHome: string): number {
  try {
    return parseProjectRules(root, bytes, userHome).length;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ToolFailure('EXECUTION_ERROR', error.message, { cause: error });
  }
}

function shown(path: string): string {
  return wholeText(path, 4096);
}
