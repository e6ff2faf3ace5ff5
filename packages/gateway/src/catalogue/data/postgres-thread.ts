// Speaks to PostgreSQL in a thread of its own, so that rows of any size take nothing of the thread that serves calls.
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';
import type { FieldDef } from 'pg';
import type { Cell, DatabaseAnswer, DatabaseQuestion } from './database-answer.ts';
import type { PostgresConnection } from './database-connection.ts';
import { explainReach } from './postgres-reach.ts';

export interface PostgresTask {
  readonly connection: PostgresConnection;
  readonly password: string;
  readonly question: DatabaseQuestion;
  readonly maxAnswerBytes: number;
}

export type PostgresReport = { readonly kind: 'answer'; readonly answer: DatabaseAnswer } | PostgresFailure;

export interface PostgresFailure {
  readonly kind: 'failure';
  readonly message: string;
  /** The change may have been made. */
  readonly isUnsure: boolean;
  readonly isConnected: boolean;
  /** For operators. */
  readonly remedy?: string;
}

/** Of everything that the server sends. */
const maxReceivedBytes = 32 * 1024 * 1024;
const watchMs = 20;
const cursor = 'sallyport_rows';
const typeNames = new Map(Object.entries(pg.types.builtins).map(([name, oid]) => [oid as number, name.toLowerCase()]));
/** All values come as the server writes them. */
const asText = { getTypeParser: () => (value: string) => value };

const { connection, password, question, maxAnswerBytes } = workerData as PostgresTask;
const { host, port, database, user, tls, caFile } = connection;
const options = {
  host: host.replace(/^\[(.*)\]$/, '$1'),
  ...{ port, database, user },
  // A function, so that no file of passwords is looked for when it is empty.
  password: () => password,
  ssl: tls && { rejectUnauthorized: true, ...(caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8') }) },
  application_name: 'sallyport',
  connectionTimeoutMillis: question.timeoutMs,
};

/** The account may do more than a transaction keeps in bounds. */
class TooMuchReach extends Error {}

let isConnected = false;
let isCommitting = false;
let backendId: number | undefined;
let overrun: string | undefined;
const client = new pg.Client(options);
// What ends a connection also ends the query that waits for it.
client.on('error', () => undefined);
const watch = setInterval(() => {
  const { stream } = (client as unknown as { connection: { stream: { bytesRead?: number; destroy: () => void } } })
    .connection;
  if ((stream.bytesRead ?? 0) <= maxReceivedBytes) return;
  overrun = 'It answers with more than 32 MB. Ask for fewer columns or rows.';
  stream.destroy();
}, watchMs);
parentPort?.on('message', () => void cancel());

try {
  await client.connect();
  isConnected = true;
  report({ kind: 'answer', answer: question.access === 'read' ? await read() : await write() });
} catch (error) {
  report(describeFailure(error));
} finally {
  clearInterval(watch);
  await client.end().catch(() => undefined);
  parentPort?.close();
}

/**
 * The transaction can only read. It has looked at the database before the statement of the caller comes, and from then on
 * the server refuses to let it write. The statement stands behind DECLARE, where the grammar of PostgreSQL takes queries
 * and nothing else, so it cannot end the transaction either. And whatever happened in it is rolled back.
 */
async function read(): Promise<DatabaseAnswer> {
  await begin('READ ONLY');
  await checkReach();
  await ask(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${question.sql}`, question.parameters);
  const result = await ask(`FETCH FORWARD ${question.maxRows + 1} FROM ${cursor}`);
  await client.query('ROLLBACK');
  return present(result.fields, result.rows);
}

async function write(): Promise<DatabaseAnswer> {
  await begin('READ WRITE');
  await checkReach();
  const { fields, rows, rowCount } = await ask(question.sql, question.parameters);
  isCommitting = true;
  await client.query('COMMIT');
  return { ...present(fields, rows), changes: rowCount ?? 0 };
}

async function begin(mode: 'READ ONLY' | 'READ WRITE'): Promise<void> {
  await client.query(`BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED ${mode}`);
  const { rows } = await client.query<{ id: number }>('SELECT pg_catalog.pg_backend_pid() AS id');
  backendId = rows[0]?.id;
  await client.query(`SET LOCAL statement_timeout = ${question.timeoutMs}`);
  await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${question.timeoutMs}`);
}

async function checkReach(): Promise<void> {
  const found = await explainReach(client);
  if (found !== undefined) throw new TooMuchReach(found);
}

/** In the extended protocol, in which the server takes one statement at a time. */
function ask(text: string, values: DatabaseQuestion['parameters'] = []) {
  const query = { text, values: [...values], queryMode: 'extended', rowMode: 'array' as const, types: asText };
  return client.query<(string | null)[]>(query);
}

function present(fields: readonly FieldDef[], all: readonly (readonly (string | null)[])[]): DatabaseAnswer {
  const columns = fields.map(({ name, dataTypeID }) => {
    const type = typeNames.get(dataTypeID);
    return { name, ...(type === undefined ? {} : { type }) };
  });
  const rows: Cell[][] = [];
  let size = 0;
  for (const row of all.slice(0, question.maxRows)) {
    const cells = row.map((value, at) => readCell(value, columns[at]?.type));
    size += JSON.stringify(cells).length;
    if (size > maxAnswerBytes) break;
    rows.push(cells);
  }
  return { columns, rows, truncated: rows.length < all.length };
}

function readCell(value: string | null, type: string | undefined): Cell {
  if (value === null) return null;
  if (type === 'bool') return value === 't';
  if (type === 'bytea' && value.startsWith('\\x')) {
    return { base64: Buffer.from(value.slice(2), 'hex').toString('base64') };
  }
  const isNumeric = type !== undefined && ['int2', 'int4', 'int8', 'float4', 'float8', 'oid'].includes(type);
  const number = isNumeric ? Number(value) : NaN;
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact ? number : value;
}

/** Over another connection, as PostgreSQL wants it. */
async function cancel(): Promise<void> {
  if (backendId === undefined) return;
  const other = new pg.Client(options);
  other.on('error', () => undefined);
  try {
    await other.connect();
    await other.query('SELECT pg_catalog.pg_cancel_backend($1)', [backendId]);
  } catch {
    // The statement ends with its time, and the thread before that.
  } finally {
    await other.end().catch(() => undefined);
  }
}

function describeFailure(error: unknown): PostgresReport {
  if (error instanceof TooMuchReach) {
    const message = 'The database account has more rights than the gate can control.';
    return { kind: 'failure', message, isUnsure: false, isConnected, remedy: error.message };
  }
  const {
    message = 'It gave no answer.',
    hint,
    detail,
  } = error as { message?: string; hint?: string; detail?: string };
  const parts = [overrun ?? message, detail, hint].filter((part) => part !== undefined && part !== '');
  // Before COMMIT nothing is made, and after a refused COMMIT neither.
  const isRefused = typeof (error as { code?: unknown }).code === 'string' && 'severity' in (error as object);
  return { kind: 'failure', message: parts.join(' '), isUnsure: isCommitting && !isRefused, isConnected };
}

function report(result: PostgresReport): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a port takes none
  parentPort?.postMessage(result);
}
