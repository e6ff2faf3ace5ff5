import { lstatSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describeInput, fieldsOf, parseFields, saysBlocked, textOf, timeOf } from './told-use.ts';
import type { ToldUse } from './told-use.ts';

const mostParts = 20_000;
const longestPart = 1024 * 1024;

/** opencode keeps what happened in a database. Empty: there is none, or it cannot be read. */
export function readOpencode(file: string): readonly ToldUse[] {
  try {
    if (!lstatSync(file).isFile()) return [];
    using database = new DatabaseSync(file, { readOnly: true, allowExtension: false, timeout: 1000 });
    const rows = database
      .prepare(
        `SELECT part.session_id AS session, part.time_created AS at, part.data AS data, session.version AS version
         FROM part LEFT JOIN session ON session.id = part.session_id
         WHERE length(part.data) < ? ORDER BY part.time_created DESC LIMIT ?`,
      )
      .all(longestPart, mostParts);
    return rows.flatMap((row) => readPart(row));
  } catch {
    return [];
  }
}

function readPart(row: Readonly<Record<string, unknown>>): readonly ToldUse[] {
  const part = parseFields(typeof row['data'] === 'string' ? row['data'] : '') ?? {};
  const tool = textOf(part['tool']);
  if (part['type'] !== 'tool' || tool.startsWith('sallyport_')) return [];
  const state = fieldsOf(part['state']);
  return [
    {
      session: textOf(row['session']),
      useId: textOf(part['callID']),
      tool,
      what: describeInput(state['input']),
      atMs: timeOf(row['at']),
      blocked: saysBlocked(state['error']),
      version: textOf(row['version']),
    },
  ];
}
