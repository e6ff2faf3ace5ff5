/** A use of a tool, as a transcript of a client tells it. Agents can write transcripts: none of it is proof. */
export interface ToldUse {
  readonly session: string;
  readonly useId: string;
  readonly tool: string;
  /** The command or the file. */
  readonly what: string;
  readonly atMs: number;
  /** The transcript says that the hook blocked it by itself. */
  readonly blocked: boolean;
  /** Of the client, if the transcript says it. */
  readonly version?: string;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 4000) : '';
}

/** Undefined: it is not JSON. */
export function parseFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const told = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'path',
  'notebook_path',
  'patchText',
  'url',
  'pattern',
  'query',
];

/** What a person would recognise it by. */
export function describeInput(input: unknown): string {
  const fields = fieldsOf(input);
  const name = told.find((each) => typeof fields[each] === 'string');
  return name === undefined ? textOf(JSON.stringify(fields)) : textOf(fields[name]);
}

/** What the hook program writes when it blocks by itself. */
export function saysBlocked(result: unknown): boolean {
  return (JSON.stringify(result) ?? '').includes('Sallyport blocks this');
}

export function timeOf(value: unknown): number {
  const time = typeof value === 'number' ? value : Date.parse(textOf(value));
  return Number.isFinite(time) ? time : 0;
}
