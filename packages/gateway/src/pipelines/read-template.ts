import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import type { YamlNode, YamlScalar } from '../text/yaml-node.ts';
import type { YamlReader } from '../text/yaml-reader.ts';
import { findAbsent } from './find-absent.ts';
import { parseText, referencesIn, TemplateError } from './template.ts';
import type { Reference, Template } from './template.ts';

/** What a reference may name where it stands. */
export interface Scope {
  readonly inputSchema: JsonObject;
  /** Ids of the steps before, and what they return. Undefined: their tools are not known. */
  readonly steps: ReadonlyMap<string, Json | undefined>;
}

const deepest = 32;

/** JSON as YAML, with references. Undefined after noting what is wrong with it, at its line. */
export function readTemplate(node: YamlNode, scope: Scope, reader: YamlReader, depth = 0): Template | undefined {
  if (depth > deepest) return reader.note(node, `is nested more than ${deepest} levels deep`);
  if (node.kind === 'scalar') return readScalar(node, scope, reader);
  if (node.kind === 'list') {
    const items = node.items.map((item) => readTemplate(item, scope, reader, depth + 1));
    return items.includes(undefined) ? undefined : { kind: 'list', items: items as Template[] };
  }
  const members = node.entries.map(({ name, key, value }) => {
    if (!name.isWellFormed()) return reader.note(key, 'is not valid Unicode');
    if (name.includes('${')) return reader.note(key, 'a reference can be a value, not the name of one');
    const template = readTemplate(value, scope, reader, depth + 1);
    return template && ([name, template] as const);
  });
  return members.includes(undefined)
    ? undefined
    : { kind: 'object', members: members as (readonly [string, Template])[] };
}

function readScalar(node: YamlScalar, scope: Scope, reader: YamlReader): Template | undefined {
  const { value } = node;
  if (typeof value === 'boolean' || value === null) return { kind: 'value', value };
  if (typeof value === 'number') {
    if (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)) return { kind: 'value', value };
    return reader.note(node, 'is a number that JSON cannot hold exactly; put it in quotes');
  }
  if (!value.isWellFormed()) return reader.note(node, 'is not valid Unicode');
  try {
    const template = parseText(value);
    const problem = referencesIn(template)
      .map((each) => explainUnknown(each, scope))
      .find((each) => each !== undefined);
    return problem === undefined ? template : reader.note(node, problem);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return reader.note(node, error.message);
  }
}

function explainUnknown({ text, step, path }: Reference, { inputSchema, steps }: Scope): string | undefined {
  const [first] = path;
  if (step === undefined) {
    const inputs = namesIn(inputSchema);
    const isKnown = first === undefined || (inputs.includes(first) && findAbsent(inputSchema, path) === undefined);
    return isKnown ? undefined : `${text} names no argument of the pipeline; it has: ${list(inputs)}`;
  }
  if (!steps.has(step)) return `${text} names no step before this one; before it: ${list([...steps.keys()])}`;
  const returned = steps.get(step);
  // A result that is too large for an answer has this name instead of its own fields.
  const absent = first === 'kept' ? undefined : findAbsent(returned, path);
  if (absent === undefined) return undefined;
  return `${text}: the tool of ${step} returns no ${absent}; it returns: ${list(namesIn(returned))}`;
}

function namesIn(schema: Json | undefined): readonly string[] {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
