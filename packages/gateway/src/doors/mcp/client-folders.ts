import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Server } from '@modelcontextprotocol/server';
import { attempt, isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { ToolRefused } from '../../call/tool.ts';
import type { Session } from '../../call/session.ts';
import { belongs } from '../../call/workspace.ts';
import type { Workspace } from '../../call/workspace.ts';
import { resolveLinks } from '../../policy/patterns/canonical-path.ts';
import type { Registry } from '../../registry/registry.ts';
import { startPathsIn } from '../../registry/schemas/find-paths.ts';
import type { Caller } from './caller.ts';
import type { CallingClient } from './tool-call.ts';

export interface FolderParts {
  /** Undefined: nobody accepts that the session works there. */
  readonly workspaceOf: (session: Session) => Workspace | undefined;
  readonly registry: Pick<Registry, 'find'>;
}

/** Percent-encoded, from `sallyport mcp`: the folder that it was started in. */
const folderHeader = 'sallyport-folder';
const rootsTimeoutMs = 5000;
const mostRoots = 100;
const plainPath = /^\/\P{Cc}*$/u;

/**
 * Where clients work: the roots that a client of the older protocol names, or else the folder of the bridge. Such a folder
 * says where relative paths start, within the workspace of the session; it never moves the session to another.
 */
export class ClientFolders {
  readonly #parts: FolderParts;
  readonly #roots = new WeakMap<Server, Promise<readonly string[]>>();

  constructor(parts: FolderParts) {
    this.#parts = parts;
  }

  /** To be called before the server is connected. */
  watch(server: Server): void {
    server.setNotificationHandler('notifications/roots/list_changed', () => void this.#roots.delete(server));
  }

  /** Whether the client has roots that it was not asked for yet. It can be asked only in answer to a request. */
  isUnasked(server: Server): boolean {
    return server.getClientCapabilities()?.roots !== undefined && !this.#roots.has(server);
  }

  /** The folder that counts, if the client works in an accepted one. */
  async find({ session, peer }: Caller, client: CallingClient): Promise<string | undefined> {
    const workspace = this.#parts.workspaceOf(session);
    if (workspace === undefined) return undefined;
    const roots = await this.#rootsOf(client);
    const folders = roots.length > 0 ? roots : readHeader(peer.headers(folderHeader));
    const own = folders.find((folder) => belongs(workspace, folder) === 'here');
    return own ?? folders.find((folder) => belongs(workspace, folder) === 'elsewhere');
  }

  /** The arguments as they mean the same in the session, whose relative paths start elsewhere. */
  place(toolName: string, args: Json, folder: string | undefined, { workingDirectory }: Session): Json {
    if (folder === undefined || folder === workingDirectory || !isJsonObject(args)) return args;
    try {
      return toolName === 'plans.propose' ? this.#placePlan(args, folder) : this.#placeOne(toolName, args, folder);
    } catch (error) {
      // The gate refuses such arguments in its own words.
      if (error instanceof ToolRefused) return args;
      throw error;
    }
  }

  #placeOne(toolName: string, args: JsonObject, folder: string): JsonObject {
    const definition = this.#parts.registry.find(toolName)?.tool.definition;
    return definition === undefined ? args : startPathsIn(folder, definition, args);
  }

  #placePlan(plan: JsonObject, folder: string): JsonObject {
    const { calls } = plan;
    if (!Array.isArray(calls)) return plan;
    const placed = (calls as readonly Json[]).map((call) => {
      if (!isJsonObject(call) || typeof call['tool'] !== 'string') return call;
      const args = call['arguments'] ?? {};
      return isJsonObject(args) ? { ...call, arguments: this.#placeOne(call['tool'], args, folder) } : call;
    });
    return { ...plan, calls: placed };
  }

  #rootsOf({ server, listRoots }: CallingClient): Promise<readonly string[]> | readonly string[] {
    if (server === undefined) return [];
    if (this.isUnasked(server) && listRoots !== undefined) this.#roots.set(server, askForRoots(listRoots));
    return this.#roots.get(server) ?? [];
  }
}

/** Clients of the newer protocol cannot be asked while they wait for an answer. A client that does not answer has no folders. */
async function askForRoots(listRoots: NonNullable<CallingClient['listRoots']>): Promise<readonly string[]> {
  try {
    const { roots } = await listRoots({ timeout: rootsTimeoutMs });
    return roots.slice(0, mostRoots).flatMap(({ uri }) => readRoot(uri));
  } catch {
    return [];
  }
}

function readRoot(uri: string): readonly string[] {
  return attempt(() => readFolder(fileURLToPath(uri)).map(resolveLinks)) ?? [];
}

/** The bridge sends it without links. */
function readHeader(header: string | undefined): readonly string[] {
  return attempt(() => readFolder(decodeURIComponent(header ?? ''))) ?? [];
}

function readFolder(path: string): readonly string[] {
  return plainPath.test(path) ? [resolve(path)] : [];
}
