import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Artifact, ContentRepository, KnownContent } from '../storage/stores.ts';
import { ContentStore } from './content-store.ts';
import type { ContentStoreOptions } from './content-store.ts';

/** What the store of the gate knows about content, in memory. */
export function memoryIndex(): ContentRepository {
  const known = new Map<string, Omit<KnownContent, 'referenced'>>();
  const grants = new Set<string>();
  const artifacts = new Map<string, Artifact>();
  const isReferenced = (hash: string): boolean => artifacts.values().some((artifact) => artifact.contentHash === hash);
  return {
    recordContent: async ({ sessionId, hash, sizeBytes, nowMs }) => {
      known.set(hash, { hash, sizeBytes, lastUsedMs: nowMs });
      grants.add(`${sessionId} ${hash}`);
    },
    mayUseContent: async (sessionId, hash) => grants.has(`${sessionId} ${hash}`),
    listContent: async () =>
      [...known.values()].map((content) => ({ ...content, referenced: isReferenced(content.hash) })),
    forgetContent: async (hash) => {
      if (isReferenced(hash)) return false;
      known.delete(hash);
      for (const grant of grants) if (grant.endsWith(` ${hash}`)) grants.delete(grant);
      return true;
    },
    publishArtifact: async (artifact) => {
      if (artifacts.has(artifact.id)) return 'exists';
      artifacts.set(artifact.id, artifact);
      return 'published';
    },
    findArtifact: async (id) => artifacts.get(id),
    listArtifacts: async ({ category, sessionId }) =>
      [...artifacts.values()]
        .filter((artifact) => category === undefined || artifact.category === category)
        .filter((artifact) => sessionId === undefined || artifact.sessionId === sessionId)
        .reverse(),
  };
}

export const never: AbortSignal = new AbortController().signal;

export function newFolder(context: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-content-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A content store on the real disk, removed when the test ends. Keeps no space free: test machines may have little. */
export async function openStore(
  context: Pick<TestContext, 'after'>,
  options: Partial<ContentStoreOptions> & { readonly index?: ContentRepository } = {},
) {
  const folder = options.folder ?? newFolder(context);
  const index = options.index ?? memoryIndex();
  const store = await ContentStore.open({ keepFreeBytes: 0, ...options, folder, index });
  const put = (bytes: Uint8Array, sessionId = 'ada') => store.put({ sessionId, source: [bytes], signal: never });
  const pathOf = (hash: string): string => join(folder, hash.slice(0, 2), hash.slice(2));
  return { store, folder, index, put, pathOf };
}

/** All bytes of a range. */
export async function readAll(store: ContentStore, hash: string, range = { offset: 0, limit: Infinity }) {
  await using reader = await store.open(hash, never);
  return Buffer.concat(await Array.fromAsync(reader.read(range, never), (piece) => Buffer.from(piece)));
}

/** Names of everything in a content folder that is not content. */
export function leftovers(folder: string): string[] {
  return ['staging', 'partial'].flatMap((name) => readdirSync(join(folder, name)).map((file) => `${name}/${file}`));
}

/** Bytes that compress badly and differ everywhere, the same for the same seed. */
export function noise(bytes: number, seed = 1): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  let state = seed;
  for (let at = 0; at < bytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    buffer[at] = state >>> 24;
  }
  return buffer;
}
