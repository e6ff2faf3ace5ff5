import type { Json, JsonObject } from '@sallyport/contract';
import { isJsonObject } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { Access } from '@sallyport/sandbox';
import { listSubschemas } from './schema-keywords.ts';

/** A text among the arguments that the schema calls a path. */
export interface GivenPath {
  readonly given: string;
  readonly access: Access;
}

const mostSteps = 20_000;
const sameValue = ['allOf', 'anyOf', 'oneOf', 'then', 'else', 'if'];

/**
 * Arguments that the schema calls paths: `format: path`, or `x-sallyport: path-read` or `path-write`. A branch that may
 * not apply counts too: rather one path too many is judged than one too few. The schema is one that was let through.
 * Throws ToolRefused when there is too much to look at.
 */
export function findPaths(schema: JsonObject, args: JsonObject): readonly GivenPath[] {
  const found = new Map<string, GivenPath>();
  let steps = 0;
  const visit = (part: Json | undefined, value: Json): void => {
    if (!isJsonObject(part)) return;
    if (++steps > mostSteps) {
      throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'paths', 'The arguments hold too much to look for paths.'));
    }
    const access = accessOf(part);
    if (access !== undefined && typeof value === 'string') found.set(`${access} ${value}`, { given: value, access });
    if (typeof part['$ref'] === 'string') visit(follow(schema, part['$ref']), value);
    for (const keyword of sameValue) {
      const branches = part[keyword];
      for (const branch of Array.isArray(branches) ? (branches as readonly Json[]) : [branches]) visit(branch, value);
    }
    if (Array.isArray(value)) visitItems(part, value as readonly Json[], visit);
    else if (isJsonObject(value)) visitMembers(part, value, visit);
  };
  visit(schema, args);
  return [...found.values()];
}

type Visit = (part: Json | undefined, value: Json) => void;

function visitItems(part: JsonObject, items: readonly Json[], visit: Visit): void {
  const { prefixItems } = part;
  for (const [index, item] of items.entries()) {
    const first = Array.isArray(prefixItems) ? (prefixItems as readonly Json[])[index] : undefined;
    visit(first ?? part['items'], item);
    visit(part['contains'], item);
  }
}

function visitMembers(part: JsonObject, members: JsonObject, visit: Visit): void {
  const named = isJsonObject(part['properties']) ? part['properties'] : {};
  const others = [...listSubschemas(part)].filter(({ keyword }) =>
    ['patternProperties', 'additionalProperties', 'unevaluatedProperties'].includes(keyword),
  );
  for (const [name, member] of Object.entries(members)) {
    if (Object.hasOwn(named, name)) visit(named[name], member);
    else for (const { schema } of others) visit(schema, member);
  }
  for (const { keyword, schema } of listSubschemas(part)) if (keyword === 'dependentSchemas') visit(schema, members);
}

function accessOf(part: JsonObject): Access | undefined {
  if (part['x-sallyport'] === 'path-write') return 'write';
  return part['x-sallyport'] === 'path-read' || part['format'] === 'path' ? 'read' : undefined;
}

/** A reference was checked to lead to a part of the schema. */
function follow(schema: JsonObject, reference: string): Json | undefined {
  let part: Json | undefined = schema;
  for (const step of decodeURIComponent(reference.slice(1)).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    part = typeof part === 'object' && part !== null ? (part as Record<string, Json | undefined>)[key] : undefined;
  }
  return part;
}
