import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  commitPayload,
  createSigningKey,
  deriveTagKey,
  encodeLeaf,
  hashLeaf,
  MerkleFrontier,
  openSigner,
  signCheckpoint,
  tagRecord,
} from '@sallyport/log';
import type { Signer } from '@sallyport/log';

const msPerCall = 20;
const sessions = 5000;

/** A log of calls that agents, tools, rules and paths of different frequency made: two records each. */
export class SearchLog {
  readonly databaseFile: string;
  readonly indexFile: string;
  readonly calls: number;
  readonly startMs: number;
  readonly signer: Signer;
  readonly #sessionIds: readonly string[];

  /** Written once: a folder that holds such a log already is used as it is. */
  constructor(folder: string, records: number) {
    mkdirSync(folder, { recursive: true });
    this.databaseFile = join(folder, 'sallyport.db');
    this.indexFile = join(folder, 'index.db');
    this.calls = Math.floor(records / 2);
    const notes = join(folder, 'notes.json');
    if (!existsSync(notes)) {
      const startMs = Date.now() - this.calls * msPerCall;
      const { privateKey } = createSigningKey('example.org/gate');
      const sessionIds = Array.from({ length: sessions }, () => randomUUIDv7());
      this.#write(openSigner(privateKey), { startMs, sessionIds });
      writeFileSync(notes, JSON.stringify({ startMs, sessionIds, privateKey, calls: this.calls }));
    }
    const { startMs, sessionIds, privateKey, calls } = JSON.parse(readFileSync(notes, 'utf8')) as {
      startMs: number;
      sessionIds: string[];
      privateKey: string;
      calls: number;
    };
    if (calls !== this.calls) throw new Error(`${folder} holds a log of ${2 * calls} records`);
    this.startMs = startMs;
    this.#sessionIds = sessionIds;
    this.signer = openSigner(privateKey);
  }

  timeOf(nth: number): string {
    return new Date(this.startMs + nth * msPerCall).toISOString();
  }

  sessionOf(nth: number): string {
    return this.#sessionIds[nth % sessions] as string;
  }

  #write(signer: Signer, { startMs, sessionIds }: { startMs: number; sessionIds: readonly string[] }): void {
    const tagKey = deriveTagKey(signer);
    const database = new DatabaseSync(this.databaseFile);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
    database.exec('CREATE TABLE records (position INTEGER PRIMARY KEY, leaf BLOB, salt BLOB, payload TEXT, tag BLOB)');
    database.exec('CREATE TABLE checkpoints (size INTEGER PRIMARY KEY, note TEXT NOT NULL)');
    const insert = database.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?)');
    const salt = randomBytes(32);
    const tree = new MerkleFrontier();
    const write = (index: number, facts: Parameters<typeof encodeLeaf>[0], payload: string): void => {
      const leaf = encodeLeaf(facts, commitPayload(salt, payload));
      const leafHash = hashLeaf(leaf);
      tree.append(leafHash);
      insert.run(index, leaf, salt, payload, tagRecord(tagKey, index, leafHash));
    };
    database.exec('BEGIN');
    for (let nth = 0; nth < this.calls; nth += 1) {
      const { agent, tool, result, ...call } = describeCall(nth);
      const ids = {
        callId: randomUUIDv7(),
        sessionId: sessionIds[nth % sessions] as string,
        timeMs: startMs + nth * msPerCall,
      };
      const intent = {
        ...{ request_id: ids.callId, trace_id: call.trace, door: 'grpc', agent, principal: 'agent' },
        ...{ workspace: '/home/me/project', tool, decision: { effect: 'allow', rule_id: call.rule } },
        arguments: { path: call.path, note: `look at ${call.word} now`, ...(call.url && { url: call.url }) },
      };
      const outcome = { intent: 2 * nth, tool, agent, summary: '12 bytes read', duration_ms: 3 };
      write(2 * nth, { kind: 'intent', result: 'none', ...ids }, JSON.stringify(intent));
      write(2 * nth + 1, { kind: 'outcome', result, ...ids }, JSON.stringify(outcome));
      if (nth % 50_000 === 0) database.exec('COMMIT; BEGIN');
    }
    const note = signCheckpoint(signer, { origin: signer.name, size: tree.size, root: tree.root() });
    database.prepare('INSERT INTO checkpoints VALUES (?, ?)').run(tree.size, note);
    database.exec('COMMIT');
    database.close();
  }
}

export function describeCall(nth: number) {
  const result = nth % 97 === 0 ? 'fault' : nth % 17 === 0 ? 'error' : nth % 5 === 0 ? 'denied' : 'ok';
  return {
    agent: `agent-${nth % 200}`,
    tool: `family${nth % 5}.tool_${nth % 40}`,
    rule: `rule-${nth % 60}`,
    trace: createHash('md5').update(String(nth)).digest('hex'),
    path: `src/part-${nth % 100}/file-${nth % 100_000}.ts`,
    host: `host-${nth % 900}.example.org`,
    url: nth % 3 === 0 ? `https://host-${nth % 900}.example.org/${nth}` : '',
    word: `topic${nth % 7777}`,
    result,
  } as const;
}
