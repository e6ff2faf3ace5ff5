import type { JsonObject } from '@sallyport/contract';
import { objectSchema } from '../files/define-file-tool.ts';

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

export const answerProperties: Readonly<Record<string, JsonObject>> = {
  columns: {
    type: 'array',
    description: 'The columns, in their order.',
    items: objectSchema(
      {
        name: { type: 'string', description: 'The name of the column.' },
        type: { type: 'string', description: 'Its type as the database names it. Absent: it has none.' },
      },
      { optional: ['type'] },
    ),
  },
  rows: {
    type: 'array',
    description:
      'The rows, each a list of values in the order of the columns. Bytes are {"base64": …}; numbers that JSON would round, dates, JSON and other types are text.',
    items: {
      type: 'array',
      items: {
        anyOf: [
          { type: ['string', 'number', 'boolean', 'null'] },
          objectSchema({ base64: { type: 'string', description: 'Bytes in base64.' } }),
        ],
      },
    },
  },
  truncated: { type: 'boolean', description: 'Whether there are more rows than are shown.' },
};
