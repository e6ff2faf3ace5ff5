import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { createSigningKey, decodeLeaf } from '@sallyport/log';
import type { Leaf } from '@sallyport/log';
import type { Mode, Session } from '../call/session.ts';
import { openSqliteStore } from '../storage/sqlite/sqlite-store.ts';
import type { NewSession, Store } from '../storage/stores.ts';
import { ownText } from '../call/redacted.ts';

/** A real store in a folder of its own; both are gone when the test ends, or whatever else calls what it is given. */
export async function openTestStore(test: { readonly after: (close: () => Promise<void>) => void }): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-stage-'));
  const store = await openSqliteStore({
    databaseFile: join(folder, 'sallyport.db'),
    signingKey: createSigningKey('sallyport/test').privateKey,
    origin: 'sallyport/test',
    checkpointFile: join(folder, 'checkpoint'),
    reserveFile: join(folder, 'reserve'),
    reserveBytes: 0,
    stateKey: randomBytes(32).toString('base64'),
    adoptState: true,
  });
  test.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

let shared: Promise<Store> | undefined;
let closeShared: (() => Promise<void>) | undefined;
after(() => closeShared?.());

/** One store for all tests that look only at what they did themselves: opening one starts a thread. */
export function openSharedStore(): Promise<Store> {
  shared ??= openTestStore({ after: (close) => (closeShared = close) });
  return shared;
}

/** Creates a session; its token is its id. */
export async function createTestSession(store: Store, more: Partial<NewSession> = {}): Promise<Session> {
  const id = randomUUIDv7();
  await store.createSession({
    id,
    principal: 'agent',
    agent: 'ada',
    tokenSha256: hash('sha256', id),
    createdAtMs: Date.now(),
    workingDirectory: '/workspace',
    lease: { id: randomUUIDv7(), tools: ['*'] },
    ...more,
  });
  const session = store.findSession(id);
  if (session === undefined) throw new Error('the session was not created');
  return session;
}

/** Any mode after any other: for tests that are about something else. */
export async function changeTestMode(store: Store, to: Mode): Promise<void> {
  await store.changeMode({ from: store.readMode(), to, by: 'olga', cause: ownText('a test'), atMs: Date.now() });
}

export interface TestRecord {
  readonly leaf: Leaf;
  readonly payload: JsonObject;
  readonly text: string;
}

/** The log as it stands, read back from the disk. */
export async function readLog(store: Pick<Store, 'readRecords'>): Promise<TestRecord[]> {
  return (await store.readRecords(0, 10_000)).map(({ leaf, payload: text = '' }) => {
    return { leaf: decodeLeaf(leaf), payload: JSON.parse(text) as JsonObject, text };
  });
}
