import { createHash } from 'node:crypto';
import { makeVisibleLine, spellCount } from '@sallyport/contract';
import { checkShown } from '../../call/check-shown.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { AnyTool, Effect, ToolContext } from '../../call/tool.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import { answerProperties } from './database-answer.ts';
import type { DatabaseAnswer } from './database-answer.ts';
import type { Databases } from './databases.ts';
import type { DatabaseConnection } from './database-connection.ts';
import { connectionName } from './read-databases.ts';
import { runPostgres } from './run-postgres.ts';
import { runSqlite } from './run-sqlite.ts';
import * as schema from '../../registry/schemas/schema.ts';

export interface DatabaseToolParts {
  readonly databases: Databases;
  /** Throws ToolFailure for a secret that is not set. */
  readonly readSecret: (name: string) => string;
}

/** Beyond the time of the statement: for starting and for ending it. */
const marginMs = 10_000;
const maxTimeoutMs = 60_000;

/** A call names all that it reaches, a file or a host: rules about others have nothing to do with it. */
const reach = { scopes: ['paths', 'network'], requiresSandbox: true } as const;

const statementSchema = (what: string) =>
  schema.object({
    database: schema.string('The name of a database that was set up, as database.list shows it.', {
      pattern: connectionName,
    }),
    sql: schema.string(what, { minLength: 1, maxLength: 100_000, pattern: String.raw`^[^\x00]*$` }),
    parameters: schema.array(
      'Values for the placeholders in the statement: ? in SQLite; $1, $2 and so on in PostgreSQL.',
      { type: ['string', 'number', 'boolean', 'null'], maxLength: 1_000_000 },
      { maxItems: 1000, default: [] },
    ),
    max_rows: schema.integer('The most rows to return.', { minimum: 1, maximum: 10_000, default: 100 }),
    timeout_ms: schema.integer('After this time the statement is ended.', {
      minimum: 100,
      maximum: maxTimeoutMs,
      default: 10_000,
    }),
  });
type StatementArguments = schema.ValueOf<ReturnType<typeof statementSchema>>;

export function databaseRead({ databases, readSecret }: DatabaseToolParts): AnyTool {
  return defineTool({
    name: 'database.read',
    aliases: ['database_read'],
    description:
      'Run one query on a database that was set up, and get its rows. The database itself refuses every statement that would change something. Never build values into the text of the query: use parameters.',
    examples: [{ database: 'shop', sql: 'SELECT name, price FROM items WHERE price > ?', parameters: [10] }],
    tags: ['database'],
    risk: 'medium',
    ...reach,
    timeoutMs: maxTimeoutMs + marginMs,
    timeoutMsFor: ({ timeout_ms: timeoutMs }) => timeoutMs + marginMs,
    inputSchema: statementSchema(
      'One SELECT, VALUES or WITH query, or a PRAGMA of SQLite that tells something, such as table_info(orders).',
    ),
    outputSchema: schema.object(answerProperties),
    claim: ({ database }, session) => databases.claim(database, 'read', session),
    preview: (args) => showStatement(args, databases.find(args.database)),
    run: async (args, context) => {
      const { columns, rows, truncated } = await runStatement(args, 'read', { databases, readSecret }, context);
      return { columns: [...columns], rows: rows.map((row) => [...row]), truncated };
    },
    summarize: ({ database }, { rows }) => `${spellCount(rows.length, 'row')} of ${database}`,
  });
}

export function databaseWrite({ databases, readSecret }: DatabaseToolParts): AnyTool {
  return defineTool({
    name: 'database.write',
    aliases: ['database_write'],
    description:
      'Run one statement that changes a database that was set up for it, in a transaction of its own. Never build values into the text of the statement: use parameters.',
    examples: [{ database: 'shop', sql: 'UPDATE items SET price = ? WHERE id = ?', parameters: [12.5, 7] }],
    tags: ['database'],
    risk: 'high',
    confirmation: 'always',
    requiresApproval: true,
    mutates: true,
    ...reach,
    timeoutMs: maxTimeoutMs + marginMs,
    timeoutMsFor: ({ timeout_ms: timeoutMs }) => timeoutMs + marginMs,
    inputSchema: statementSchema('One statement. BEGIN, COMMIT and the like are not needed.'),
    outputSchema: schema.object({
      changes: schema.count('How many rows were changed.'),
      ...answerProperties,
    }),
    claim: ({ database }, session) => {
      checkWritable(databases.find(database));
      return databases.claim(database, 'write', session);
    },
    preview: (args) => showStatement(args, databases.find(args.database)),
    run: async (args, context) => {
      const connection = databases.find(args.database);
      checkWritable(connection);
      checkShown(basisOf(connection), args.database, context);
      const answer = await runStatement(args, 'write', { databases, readSecret }, context);
      const { changes = 0, columns, rows, truncated } = answer;
      return { changes, columns: [...columns], rows: rows.map((row) => [...row]), truncated };
    },
    summarize: ({ database }, { changes }) => `${spellCount(changes, 'row')} of ${database} changed`,
  });
}

export function databaseList({ databases }: DatabaseToolParts): AnyTool {
  return defineTool({
    name: 'database.list',
    aliases: ['list_databases'],
    description: 'List the databases that were set up for database.read and database.write.',
    tags: ['database'],
    risk: 'low',
    timeoutMs: 5000,
    inputSchema: schema.object({}),
    outputSchema: schema.object({
      databases: schema.array(
        'In the order in which they were set up.',
        schema.object(
          {
            name: schema.string('How calls name it.'),
            kind: schema.choice('Whose SQL it speaks.', ['sqlite', 'postgres']),
            access: schema.choice('Whether it may be changed too.', ['read', 'write']),
            description: schema.string('What it is for. Absent: nobody said.'),
          },
          { optional: ['description'] },
        ),
      ),
    }),
    preview: () => looksAt('List the databases'),
    run: () => ({
      databases: databases.list().map(({ name, kind, access, description }) => {
        return { name, kind, access, ...(description === '' ? {} : { description }) };
      }),
    }),
    summarize: (_, output) => spellCount(output.databases.length, 'database'),
  });
}

function runStatement(
  args: StatementArguments,
  access: 'read' | 'write',
  { databases, readSecret }: DatabaseToolParts,
  context: ToolContext,
): Promise<DatabaseAnswer> {
  const connection = databases.find(args.database);
  const { sql, parameters, max_rows: maxRows, timeout_ms: timeoutMs } = args;
  const question = { sql, parameters, access, maxRows, timeoutMs };
  if (connection.kind === 'sqlite') {
    return runSqlite(databases.fileOf(connection, context.session), question, context);
  }
  const password = connection.passwordSecret === undefined ? '' : readSecret(connection.passwordSecret);
  return runPostgres(connection, password, question, context);
}

function checkWritable({ name, access }: DatabaseConnection): void {
  if (access === 'write') return;
  throw new ToolRefused(
    refuse('RULE_DENIES', 'database-access', `The database ${name} may only be read.`, {
      remedy: 'Use database.read.',
      forOperators: 'Set access: write for it in databases.yaml.',
    }),
  );
}

function showStatement({ sql, parameters }: StatementArguments, connection: DatabaseConnection): Effect {
  const { name } = connection;
  const place =
    connection.kind === 'sqlite'
      ? connection.file
      : `${connection.user}@${connection.host}:${connection.port}/${connection.database}`;
  const lines = [
    `database: ${name} (${connection.kind} ${place})`,
    ...sql.split('\n').map((line) => `  ${line}`),
    ...parameters.map((value, at) => `parameter ${at + 1}: ${JSON.stringify(value)}`),
  ];
  return {
    summary: makeVisibleLine(`Run on the database ${name}: ${sql.trim().split('\n', 1)[0] ?? ''}`),
    detail: lines.map((line) => `${makeVisibleLine(line)}\n`).join(''),
    undoable: false,
    basis: basisOf(connection),
  };
}

/** A consent holds for the database as it was set up then. */
function basisOf(connection: DatabaseConnection): string {
  return createHash('sha256').update(JSON.stringify(connection)).digest('hex');
}
