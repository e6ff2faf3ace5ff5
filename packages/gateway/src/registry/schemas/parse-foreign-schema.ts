import type { Json, JsonObject } from '@sallyport/contract';
import { hasHiddenText, hasHiddenTextOrLines, isJsonObject, wholeText } from '@sallyport/contract';
import { compileForeignPattern } from './foreign-pattern.ts';
import { escapePointer, inPlaceKeywords, listSubschemas, schemaKeywords } from './schema-keywords.ts';
import type { KeywordForm } from './schema-keywords.ts';

const mostSchemas = 2000;
const mostValues = 10_000;
const deepest = 32;
const mostTargets = 100;
const longestName = 200;
const longestText = 10_000;
const typeNames: ReadonlySet<unknown> = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']);

/** Why a schema of somebody else is not taken, and where. */
export class ForeignSchemaError extends Error {
  constructor(pointer: string, reason: string) {
    super(`${reason} (at ${JSON.stringify(wholeText(`#${pointer}`))})`);
    this.name = 'ForeignSchemaError';
  }
}

/**
 * Takes a schema that a tool or an upstream server sent. The result is a copy with the keywords we know and nothing
 * else, whose compilation and use are bounded. Throws ForeignSchemaError.
 */
export function parseForeignSchema(schema: Json): JsonObject {
  if (!isJsonObject(schema)) throw new ForeignSchemaError('', 'a schema must be an object');
  const reading = new Reading();
  const copy = reading.readSchema(schema, '', 0) as JsonObject;
  reading.checkReferences();
  return copy;
}

class Reading {
  readonly #schemas = new Map<string, JsonObject | boolean>();
  readonly #references = new Map<string, string>();
  #values = 0;

  readSchema(schema: Json, pointer: string, depth: number): JsonObject | boolean {
    if (depth > deepest) throw new ForeignSchemaError(pointer, `nested deeper than ${deepest} levels`);
    if (this.#schemas.size >= mostSchemas) throw new ForeignSchemaError('', `it has more than ${mostSchemas} parts`);
    if (typeof schema !== 'boolean' && !isJsonObject(schema)) {
      throw new ForeignSchemaError(pointer, 'a schema must be an object, true or false');
    }
    this.#schemas.set(pointer, schema);
    return typeof schema === 'boolean' ? schema : this.#readKeywords(schema, pointer, depth);
  }

  #readKeywords(schema: JsonObject, pointer: string, depth: number): JsonObject {
    const copy: Record<string, Json> = {};
    for (const [keyword, value] of Object.entries(schema)) {
      this.#countValue();
      const form = schemaKeywords.get(keyword);
      // A keyword that nobody here knows is a remark. Those of the core say how everything else is to be read.
      if (form === undefined && keyword.startsWith('$')) {
        throw new ForeignSchemaError(pointer, `${JSON.stringify(wholeText(keyword))} is not allowed`);
      }
      if (form !== undefined) copy[keyword] = this.#readValue(form, value, `${pointer}/${keyword}`, depth);
    }
    for (const name of isJsonObject(copy['patternProperties']) ? Object.keys(copy['patternProperties']) : []) {
      checkPattern(name, `${pointer}/patternProperties`);
    }
    return copy;
  }

  #readValue(form: KeywordForm, value: Json, at: string, depth: number): Json {
    switch (form) {
      case 'schema':
        return this.readSchema(value, at, depth + 1);
      case 'schema-list':
        return readList(value, at).map((item, index) => this.readSchema(item, `${at}/${index}`, depth + 1));
      case 'named-schemas':
        return this.#readNamed(value, at, (member, step) => this.readSchema(member, `${at}${step}`, depth + 1));
      case 'named-names':
        return this.#readNamed(value, at, (member) => this.#readNames(member, at));
      case 'names':
        return this.#readNames(value, at);
      case 'values':
        return readValues(value, at).map((item) => this.#countAll(item));
      case 'value':
        return this.#countAll(value);
      case 'reference':
        return this.#readReference(value, at);
      default:
        return checkPlain(form, value, at);
    }
  }

  #readNamed(value: Json, at: string, read: (member: Json, step: string) => Json): JsonObject {
    if (!isJsonObject(value)) throw new ForeignSchemaError(at, 'must be an object');
    const copy: Record<string, Json> = {};
    for (const [name, member] of Object.entries(value)) {
      this.#countValue();
      checkName(name, at);
      copy[name] = read(member, `/${escapePointer(name)}`);
    }
    return copy;
  }

  #readNames(value: Json, at: string): Json {
    return readList(value, at).map((name) => {
      this.#countValue();
      if (typeof name !== 'string') throw new ForeignSchemaError(at, 'must be a list of names');
      return checkName(name, at);
    });
  }

  #readReference(value: Json, at: string): string {
    if (typeof value !== 'string' || !(value === '#' || value.startsWith('#/'))) {
      throw new ForeignSchemaError(at, 'a reference must point into the schema itself, such as #/$defs/name');
    }
    this.#references.set(at.slice(0, -'/$ref'.length), decodeFragment(value, at));
    return value;
  }

  /** References lead to a schema, and never back to where they started without having gone into the value. */
  checkReferences(): void {
    for (const [from, to] of this.#references) {
      if (!this.#schemas.has(to)) throw new ForeignSchemaError(`${from}/$ref`, 'the reference leads nowhere');
    }
    // Each is compiled inside the one that refers to it, so that a long chain would run out of stack.
    if (new Set(this.#references.values()).size > mostTargets) {
      throw new ForeignSchemaError('', `its references lead to more than ${mostTargets} parts`);
    }
    const finished = new Set<string>();
    const open = new Set<string>();
    const visit = (pointer: string): void => {
      if (finished.has(pointer)) return;
      if (open.has(pointer)) throw new ForeignSchemaError(pointer, 'the references go in a circle');
      open.add(pointer);
      for (const next of this.#listInPlace(pointer)) visit(next);
      open.delete(pointer);
      finished.add(pointer);
    };
    for (const pointer of this.#schemas.keys()) visit(pointer);
  }

  *#listInPlace(pointer: string): Generator<string> {
    const target = this.#references.get(pointer);
    if (target !== undefined) yield target;
    const schema = this.#schemas.get(pointer);
    if (typeof schema !== 'object') return;
    for (const { keyword, step } of listSubschemas(schema)) if (inPlaceKeywords.has(keyword)) yield pointer + step;
  }

  #countAll(value: Json): Json {
    this.#countValue();
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new ForeignSchemaError('', 'a number is not finite');
    for (const [name, member] of typeof value === 'object' && value !== null ? Object.entries<Json>(value) : []) {
      if (name === '__proto__') throw new ForeignSchemaError('', '"__proto__" is not allowed as a name');
      this.#countAll(member);
    }
    return value;
  }

  #countValue(): void {
    if (++this.#values > mostValues) throw new ForeignSchemaError('', `it holds more than ${mostValues} values`);
  }
}

/** A list of no values lets nothing pass, and the validator does not compile it. */
function readValues(value: Json, at: string): readonly Json[] {
  const values = readList(value, at);
  if (values.length === 0) throw new ForeignSchemaError(at, 'must name at least one value');
  return values;
}

function readList(value: Json, at: string): readonly Json[] {
  if (!Array.isArray(value)) throw new ForeignSchemaError(at, 'must be a list');
  return value as readonly Json[];
}

function checkName(name: string, at: string): string {
  // Such a name would change what the object is, not what it holds.
  if (name === '__proto__') throw new ForeignSchemaError(at, '"__proto__" is not allowed as a name');
  if (name.length > longestName) throw new ForeignSchemaError(at, `a name is longer than ${longestName} characters`);
  if (hasHiddenTextOrLines(name)) throw new ForeignSchemaError(at, 'a name holds control or hidden characters');
  return name;
}

function checkPattern(pattern: string, at: string): void {
  try {
    compileForeignPattern(pattern);
  } catch (error) {
    throw new ForeignSchemaError(at, error instanceof Error ? error.message : 'the pattern cannot be used');
  }
}

type PlainForm = 'count' | 'number' | 'positive' | 'pattern' | 'flag' | 'type' | 'text';

function checkPlain(form: PlainForm, value: Json, at: string): Json {
  const fits: Record<PlainForm, () => boolean> = {
    count: () => Number.isSafeInteger(value) && (value as number) >= 0,
    number: () => Number.isFinite(value),
    positive: () => Number.isFinite(value) && (value as number) > 0,
    flag: () => typeof value === 'boolean',
    type: () => typeNames.has(value) || (Array.isArray(value) && value.length > 0 && value.every(isTypeName)),
    text: () => typeof value === 'string' && value.length <= longestText && !hasHiddenText(value),
    pattern: () => typeof value === 'string',
  };
  if (!fits[form]()) throw new ForeignSchemaError(at, `this is no ${plainNames[form]}`);
  if (form === 'pattern') checkPattern(value as string, at);
  return value;
}

const plainNames: Record<PlainForm, string> = {
  count: 'whole number from 0',
  number: 'number',
  positive: 'number above 0',
  flag: 'true or false',
  type: 'type',
  text: `plain text of up to ${longestText} characters`,
  pattern: 'pattern',
};

function isTypeName(value: unknown): boolean {
  return typeNames.has(value);
}

function decodeFragment(reference: string, at: string): string {
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    throw new ForeignSchemaError(at, 'the reference is not well formed');
  }
}
