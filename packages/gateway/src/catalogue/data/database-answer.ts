import * as schema from '../../registry/schemas/schema.ts';

/** One statement for a database, whatever its kind. */
export interface DatabaseQuestion {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  readonly access: 'read' | 'write';
  readonly maxRows: number;
  readonly timeoutMs: number;
}

export type Parameter = string | number | boolean | null;

export type Cell = string | number | boolean | null | { readonly base64: string };

export interface DatabaseAnswer {
  readonly columns: readonly { readonly name: string; readonly type?: string }[];
  readonly rows: readonly (readonly Cell[])[];
  readonly truncated: boolean;
  /** Of statements that change something. */
  readonly changes?: number;
}

/** Of all rows of an answer, as JSON. */
export const maxAnswerBytes = 4 * 1024 * 1024;

export const answerProperties = {
  columns: schema.array(
    'The columns, in their order.',
    schema.object(
      {
        name: schema.string('The name of the column.'),
        type: schema.string('Its type as the database names it. Absent: it has none.'),
      },
      { optional: ['type'] },
    ),
  ),
  rows: schema.array(
    'The rows, each a list of values in the order of the columns. Bytes are {"base64": …}; numbers that JSON would round, dates, JSON and other types are text.',
    {
      type: 'array',
      items: {
        anyOf: [
          { type: ['string', 'number', 'boolean', 'null'] },
          schema.object({ base64: schema.string('Bytes in base64.') }),
        ],
      },
    },
  ),
  truncated: schema.boolean('Whether there are more rows than are shown.'),
};
