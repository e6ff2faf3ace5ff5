import { resolve } from 'node:path';
import {
  AcceptedRulesSchema,
  AddedWorkspaceSchema,
  ProjectRulesReportSchema,
  RemovedWorkspaceSchema,
  spellCount,
  wholeText,
  WorkspaceListSchema,
} from '@sallyport/contract';
import type { AcceptedWorkspace, InJson, ProjectRulesReport } from '@sallyport/contract';
import { ConfigError } from '../call/fault.ts';
import type { Session } from '../call/session.ts';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import type { GateFolders } from '../policy/judge/protected-paths.ts';
import { resolveRoot } from '../policy/judge/resolve-workspace.ts';
import { resolveLinks } from '../policy/patterns/canonical-path.ts';
import { defineOperatorTool } from '../registry/define-operator-tool.ts';
import { readRoot } from '../sessions/tools/lease-arguments.ts';
import type { EndSession } from '../sessions/tools/sessions.ts';
import type { Store } from '../storage/stores.ts';
import { hashProjectRules, parseProjectRules, projectRulesFile, readProjectFile } from './project-rules.ts';
import type { InspectedRoot, WorkspaceBook } from './workspace-book.ts';
import * as schema from '../registry/schemas/schema.ts';

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

const pathProperty = schema.string('An absolute path of a folder.', { minLength: 1, maxLength: 4096 });

/** In which folders sessions may work, and which rules of their projects are in force. */
export function workspaceTools(parts: WorkspaceToolParts): readonly AnyTool[] {
  return [addTool(parts), listTool(parts), showTool(parts), acceptTool(parts), removeTool(parts)];
}

function addTool({ book, store, folders, onChanged }: WorkspaceToolParts) {
  const tell = ({ path }: PathArgument) => `Accept ${shown(path)} as a folder that sessions may work in.`;
  return defineOperatorTool({
    name: 'workspaces.add',
    description:
      'Accepts a folder: sessions may be opened in it from now on. Existing sessions reach no more than before.',
    mutates: true,
    idempotent: true,
    properties: { path: pathProperty },
    required: ['path'],
    answers: AddedWorkspaceSchema,
    preview: (args) => ({ summary: tell(args), undoable: true }),
    run: async ({ path }, { session }) => {
      const root = usableFolder(path, folders);
      // The daemon's own workspace is accepted only as long as the daemon runs there, unless it is kept like the others.
      if (book.find(root) !== undefined) return { path: root, added: false };
      await store.putWorkspaceRoot({ path: root, addedAtMs: Date.now(), addedBy: session.agent });
      onChanged();
      return { path: root, added: true };
    },
    summarize: tell,
  });
}

function listTool({ book, store }: WorkspaceToolParts) {
  return defineOperatorTool({
    name: 'workspaces.list',
    description: 'Lists the folders that sessions may work in, and whether the rules of their projects are in force.',
    mutates: false,
    answers: WorkspaceListSchema,
    run: () => {
      const sessions = store.liveSessions().filter(({ status }) => status === 'active');
      return { workspaces: book.inspect().map((root) => describeRoot(root, sessionsIn(root.path, sessions, book))) };
    },
    summarize: (_args, { workspaces }) => spellCount(workspaces.length, 'accepted folder'),
  });
}

function showTool({ book, folders }: WorkspaceToolParts) {
  return defineOperatorTool({
    name: 'workspaces.show',
    description: 'Shows the rules of a project: as the file is now, and as an operator accepted them.',
    mutates: false,
    properties: { path: pathProperty },
    required: ['path'],
    answers: ProjectRulesReportSchema,
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
    summarize: (_args, { path }) => `the rules of the project ${shown(path)}`,
  });
}

function acceptTool({ book, store, folders, onChanged }: WorkspaceToolParts) {
  const tell = ({ path }: PathArgument) => `Put the rules of the project ${shown(path)} in force.`;
  return defineOperatorTool({
    name: 'workspaces.accept',
    description:
      'Puts the rules of a project in force as the file is now. They can only deny calls or require approval. Without a file, the project has no rules.',
    mutates: true,
    idempotent: true,
    properties: {
      path: pathProperty,
      sha256: schema.string(
        'SHA-256 of the file that you looked at; empty when there was no file. Absent: the file as it is now.',
        { pattern: '^(?:[0-9a-f]{64})?$' },
      ),
    },
    required: ['path'],
    answers: AcceptedRulesSchema,
    preview: (args) => {
      return { summary: tell(args), detail: describeFile(args.path), undoable: true };
    },
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
      if (before === present) return { path: root, rulesSha256: present, count, changed: false };
      const { addedAtMs, addedBy } = kept;
      const rules = bytes && { bytes, acceptedAtMs: Date.now(), acceptedBy: session.agent };
      await store.putWorkspaceRoot({ path: root, addedAtMs, addedBy, ...(rules && { rules }) });
      onChanged();
      return { path: root, rulesSha256: present, count, changed: true };
    },
    summarize: tell,
  });
}

function removeTool({ book, store, endSession, onChanged }: WorkspaceToolParts) {
  const tell = ({ path }: PathArgument) => `Take ${shown(path)} back, and end the sessions that work in it.`;
  return defineOperatorTool({
    name: 'workspaces.remove',
    description: 'Removes a folder from the accepted ones, and ends the sessions that work in it.',
    mutates: true,
    idempotent: true,
    properties: { path: pathProperty },
    required: ['path'],
    answers: RemovedWorkspaceSchema,
    preview: (args) => ({ summary: tell(args), undoable: true }),
    run: async ({ path }, { session }) => {
      const named = readRoot(path);
      // The folder may be gone, and a link on the way to it another one.
      const root = book.roots.includes(named) ? named : resolveLinks(named);
      if (root === book.own) {
        throw new ToolFailure('INVALID_ARGUMENTS', `${shown(root)} is the workspace of the daemon itself.`, {
          forOperators: 'Start the daemon in another folder, or set SALLYPORT_WORKSPACE.',
        });
      }
      const working = sessionsIn(root, store.liveSessions(), book);
      const removed = await store.removeWorkspaceRoot(root);
      if (!removed) throw unknownRoot(root);
      for (const { id } of working) await endSession(id, session.agent);
      onChanged();
      return { path: root, removed, endedSessions: working.length };
    },
    summarize: tell,
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

function describeRoot(root: InspectedRoot, sessions: readonly Session[]): InJson<AcceptedWorkspace> {
  const { path, isOwn, state, addedAtMs, addedBy = '', rules } = root;
  return {
    path,
    own: isOwn,
    ...(addedAtMs === undefined || isOwn ? {} : { addedAtMs: String(addedAtMs), addedBy }),
    rules: state,
    ...(rules && { acceptedSha256: hashProjectRules(rules.bytes) }),
    sessions: sessions.length,
  };
}

function describeAccepted({ rules }: InspectedRoot): Partial<InJson<ProjectRulesReport>> {
  return {
    ...(rules && {
      acceptedSha256: hashProjectRules(rules.bytes),
      acceptedText: Buffer.from(rules.bytes).toString(),
      acceptedAtMs: String(rules.acceptedAtMs),
      acceptedBy: rules.acceptedBy,
    }),
  };
}

function describeBytes(root: string, bytes: Uint8Array, userHome: string): Partial<InJson<ProjectRulesReport>> {
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
