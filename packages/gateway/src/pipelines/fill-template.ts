import type { Json, JsonObject } from '@sallyport/contract';
import type { Reference, Template } from './template.ts';

/** A reference without a value, or with one that does not fit there. The message is for the caller. */
export class FillError extends Error {}

/** What references are looked up in. */
export interface Values {
  readonly input: JsonObject;
  /** By the id of the step; undefined if a step failed and the pipeline continued. */
  readonly steps: ReadonlyMap<string, Json | undefined>;
}

export type LookUp = (reference: Reference) => Json;

/** The value of a reference: null for all of a step that failed. Throws FillError when there is no value. */
export function lookUpIn({ input, steps }: Values): LookUp {
  return ({ text, step, path }) => {
    const whole = step === undefined ? input : steps.get(step);
    if (whole === undefined) return null;
    let value: Json | undefined = whole;
    for (const part of path) value = memberOf(value, part);
    if (value === undefined) throw new FillError(`${text} has no value`);
    return value;
  };
}

/**
 * The JSON that a template stands for. What the references add may not be longer than `mostCharacters`: a short
 * template can repeat a long value often. Throws FillError.
 */
export function fillTemplate(template: Template, lookUp: LookUp, mostCharacters: number): Json {
  let left = mostCharacters;
  const take = (reference: Reference, size: number): void => {
    left -= size;
    if (left < 0) throw new FillError(`${reference.text} makes it larger than ${mostCharacters} characters`);
  };
  const fill = (part: Template): Json => {
    switch (part.kind) {
      case 'value':
        return part.value;
      case 'reference': {
        const value = lookUp(part.reference);
        take(part.reference, JSON.stringify(value).length);
        return value;
      }
      case 'text':
        return part.pieces.map((piece) => (typeof piece === 'string' ? piece : spell(piece))).join('');
      case 'list':
        return part.items.map(fill);
      case 'object':
        return Object.fromEntries(part.members.map(([name, value]) => [name, fill(value)]));
    }
  };
  const spell = (reference: Reference): string => {
    const value = lookUp(reference);
    if (value === null || typeof value === 'object') {
      const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
      throw new FillError(
        `${reference.text} is ${found}, and only text, numbers, true and false go into a longer text`,
      );
    }
    const text = String(value);
    take(reference, text.length);
    return text;
  };
  return fill(template);
}

/** Only what the value itself has: no length, no constructor. */
function memberOf(value: Json | undefined, part: string): Json | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(part) ? (value as readonly Json[])[Number(part)] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, part) ? (value as JsonObject)[part] : undefined;
}
