import { lstatSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { COLLECTION_STYLE, CORE_SCHEMA, jsToAst, present, visit } from 'js-yaml';
import { attempt, findBytes } from '@sallyport/contract';
import { isCanonicalPath, parseHost } from '@sallyport/gateway';
import { isWithin } from '@sallyport/sandbox';
import type { ProtectedPaths } from '@sallyport/gateway';
import type { Access } from '@sallyport/sandbox';
import type { Complaint } from './read-complaints.ts';

/** Something that a program did not get, and why. */
export interface Refused {
  readonly what: string;
  readonly why: string;
}

export interface Suggestion {
  readonly refused: readonly Refused[];
  /** A rule in YAML that would give it what a rule can give. Absent: none would. */
  readonly rule?: string;
}

/** How a call of the tool ended. */
export interface Failing {
  readonly tool: string;
  readonly complaints: readonly Complaint[];
  /** What the tool says it needs. */
  readonly asked: {
    readonly read: readonly string[];
    readonly write: readonly string[];
    readonly hosts: readonly string[];
  };
  /** Code and message of the failure. Absent: it succeeded. */
  readonly failure?: { readonly code: string; readonly message: string };
}

export interface Surroundings {
  readonly workspace: string;
  readonly userHome: string;
  readonly protectedPaths: ProtectedPaths;
  /** Absent: the file system is asked. */
  readonly exists?: (path: string) => boolean;
}

interface Wanted {
  readonly read: Set<string>;
  readonly write: Set<string>;
  readonly hosts: Set<string>;
  readonly limits: Map<string, number>;
}

/** What every program sees of the machine, as far as it may. */
const ofTheSystem = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/proc', '/sys', '/dev', '/tool', '/boot'];
const mebibyte = 1024 * 1024;

/** By the code of the failure: the limit as rules name it, and its unit in the message. */
const limits: Readonly<Record<string, readonly [key: string, unit: number]>> = {
  CPU_LIMIT: ['cpu_seconds', 1000],
  MEMORY_LIMIT: ['memory_mb', mebibyte],
  PROCESS_LIMIT: ['processes', 1],
  FILE_SIZE_LIMIT: ['file_mb', mebibyte],
  DISK_LIMIT: ['disk_mb', mebibyte],
  OUTPUT_LIMIT: ['output_mb', mebibyte],
};

/** Tells what the sandbox kept from a program, and the rule that would open it. */
export function suggestRule(failing: Failing, surroundings: Surroundings): Suggestion {
  const wanted: Wanted = { read: new Set(), write: new Set(), hosts: new Set(), limits: new Map() };
  const refused = [
    ...failing.complaints.flatMap((complaint) => weighComplaint(complaint, failing, surroundings, wanted)),
    ...weighLimit(failing, wanted),
  ];
  const distinct = [...new Map(refused.map((each) => [each.what, each])).values()];
  const rule = spellRule(failing.tool, wanted, surroundings);
  return { refused: distinct, ...(rule === undefined ? {} : { rule }) };
}

function weighComplaint(
  complaint: Complaint,
  { asked }: Failing,
  surroundings: Surroundings,
  wanted: Wanted,
): readonly Refused[] {
  switch (complaint.kind) {
    case 'path':
      return weighPath(complaint.path, complaint.access, asked, surroundings, wanted);
    case 'host':
      return weighHost(complaint.host, wanted);
    case 'network': {
      const hosts = asked.hosts.flatMap((host) => weighHost(host, wanted));
      return hosts.length > 0 ? hosts : [{ what: 'the network', why: 'it has none, unless a rule grants it hosts' }];
    }
  }
}

function weighPath(
  path: string,
  access: Access,
  asked: Failing['asked'],
  surroundings: Surroundings,
  wanted: Wanted,
): readonly Refused[] {
  const { workspace, protectedPaths, exists = isThere } = surroundings;
  const absolute = isAbsolute(path) ? path : join(workspace, path);
  const isWrite = access === 'write';
  // What is not there either way was not refused; a new file needs a folder to be in.
  if (!isCanonicalPath(absolute) || !exists(isWrite ? dirname(absolute) : absolute)) return [];
  if (ofTheSystem.some((folder) => isWithin(folder, absolute))) {
    if (!isWrite) return [];
    return [{ what: absolute, why: 'it belongs to the system; only /tmp and what a rule grants can be changed' }];
  }
  const shown = isWrite && !exists(absolute) ? dirname(absolute) : absolute;
  const closed = protectedPaths.explain(shown, access);
  if (closed !== undefined) return [{ what: absolute, why: `no rule opens it: it ${closed}` }];
  const folder = asked[access].find((each) => isWithin(each, shown)) ?? shown;
  (isWrite ? wanted.write : wanted.read).add(folder);
  return [{ what: absolute, why: isWrite ? 'no rule lets it change that' : 'no rule shows it that' }];
}

function weighHost(host: string, wanted: Wanted): readonly Refused[] {
  // The usual ports are meant where none is named.
  const named = host.replace(/:(?:443|80)$/, '');
  if (parseHost(named) === undefined) return [];
  wanted.hosts.add(named);
  return [{ what: host, why: 'no rule grants it that host' }];
}

function weighLimit({ failure }: Failing, wanted: Wanted): readonly Refused[] {
  const [key, unit] = limits[failure?.code ?? ''] ?? [];
  const message = failure?.message ?? '';
  const reached = findBytes(message) ?? Number(/\d+/.exec(message)?.[0]);
  if (key === undefined || unit === undefined || !(reached > 0)) return [];
  wanted.limits.set(key, Math.ceil((2 * reached) / unit));
  return [{ what: key, why: `it reached its limit of ${Math.ceil(reached / unit)}` }];
}

/** Undefined: there is nothing to grant. */
function spellRule(tool: string, wanted: Wanted, { workspace, userHome }: Surroundings): string | undefined {
  const spellPath = (path: string): string => {
    if (isWithin(workspace, path)) return `$WORKSPACE${path.slice(workspace.length)}`;
    return isWithin(userHome, path) ? `$HOME${path.slice(userHome.length)}` : path;
  };
  const write = [...wanted.write];
  // What may be changed may be read as well.
  const read = [...wanted.read].filter((path) => !write.some((outer) => isWithin(outer, path)));
  const grants = {
    ...(read.length > 0 ? { read: read.map(spellPath) } : {}),
    ...(write.length > 0 ? { write: write.map(spellPath) } : {}),
    ...(wanted.hosts.size > 0 ? { hosts: [...wanted.hosts] } : {}),
    ...(wanted.limits.size > 0 ? { limits: Object.fromEntries(wanted.limits) } : {}),
  };
  if (Object.keys(grants).length === 0) return undefined;
  const id = `${tool.replace(/[^a-z0-9]+/g, '-')}-grants`;
  const documents = jsToAst([{ id, effect: 'allow', tools: [tool], grants }], CORE_SCHEMA);
  // One line each for tools and grants, as the shipped rules have it.
  visit(documents, (node, { depth }) => {
    if (depth === 2 && node.kind !== 'scalar' && node.kind !== 'alias') node.style = COLLECTION_STYLE.FLOW;
  });
  return present(documents, { schema: CORE_SCHEMA, lineWidth: -1 }).trimEnd();
}

function isThere(path: string): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }) !== undefined) ?? false;
}
