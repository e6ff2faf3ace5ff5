import type { Json, JsonObject } from '@sallyport/contract';
import { isJsonObject } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { ToolDefinition } from '../../call/tool.ts';
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
  visitPaths(schema, args, (given, access) => found.set(`${access} ${given}`, { given, access }));
  return [...found.values()];
}

/**
 * The same arguments, with relative paths beginning in a folder. An absent one that would mean the working directory is
 * the folder. Throws ToolRefused like `findPaths`.
 */
export function startPathsIn(
  folder: string,
  { inputSchema, pathArguments = [] }: Pick<ToolDefinition, 'inputSchema' | 'pathArguments'>,
  args: JsonObject,
): JsonObject {
  const moved: Record<string, Json> = structuredClone(args);
  const start = (given: string): string => {
    if (given === '' || given.startsWith('/')) return given;
    return given === '.' ? folder : `${folder}/${given}`;
  };
  visitPaths(inputSchema, moved, (given, _access, replace) => replace(start(given)));
  const { properties = {} } = inputSchema as { readonly properties?: Readonly<Record<string, JsonObject>> };
  for (const name of pathArguments) {
    const given = moved[name] ?? (name === 'cwd' ? '.' : properties[name]?.['default']);
    if (typeof given === 'string') moved[name] = start(given);
  }
  return moved;
}

type OnPath = (given: string, access: Access, replace: (path: string) => void) => void;

function visitPaths(schema: JsonObject, args: JsonObject, onPath: OnPath): void {
  let steps = 0;
  const visit: Visit = (part, value, replace) => {
    if (!isJsonObject(part)) return;
    if (++steps > mostSteps) {
      throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'paths', 'The arguments hold too much to look for paths.'));
    }
    const access = accessOf(part);
    if (access !== undefined && typeof value === 'string') onPath(value, access, replace);
    if (typeof part['$ref'] === 'string') visit(follow(schema, part['$ref']), value, replace);
    for (const keyword of sameValue) {
      const branches = part[keyword];
      for (const branch of Array.isArray(branches) ? (branches as readonly Json[]) : [branches]) {
        visit(branch, value, replace);
      }
    }
    if (Array.isArray(value)) visitItems(part, value as Json[], visit);
    else if (isJsonObject(value)) visitMembers(part, value, visit);
  };
  visit(schema, args, () => undefined);
}

type Visit = (part: Json | undefined, value: Json, replace: (path: string) => void) => void;

function visitItems(part: JsonObject, items: Json[], visit: Visit): void {
  const { prefixItems } = part;
  for (const [index, item] of items.entries()) {
    const replace = (path: string): void => void (items[index] = path);
    const first = Array.isArray(prefixItems) ? (prefixItems as readonly Json[])[index] : undefined;
    visit(first ?? part['items'], item, replace);
    visit(part['contains'], item, replace);
  }
}

function visitMembers(part: JsonObject, members: JsonObject, visit: Visit): void {
  const named = isJsonObject(part['properties']) ? part['properties'] : {};
  const others = [...listSubschemas(part)].filter(({ keyword }) =>
    ['patternProperties', 'additionalProperties', 'unevaluatedProperties'].includes(keyword),
  );
  for (const [name, member] of Object.entries(members)) {
    const replace = (path: string): void => void ((members as Record<string, Json>)[name] = path);
    if (Object.hasOwn(named, name)) visit(named[name], member, replace);
    else for (const { schema } of others) visit(schema, member, replace);
  }
  for (const { keyword, schema } of listSubschemas(part)) {
    if (keyword === 'dependentSchemas') visit(schema, members, () => undefined);
  }
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
