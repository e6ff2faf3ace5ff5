import { posix } from 'node:path';
import { isJsonObject } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type { EntryFacts } from './entry.ts';

export const fields = [
  'about',
  'agent',
  'call',
  'code',
  'door',
  'event',
  'host',
  'kind',
  'path',
  'rule',
  'session',
  'status',
  'task',
  'tool',
  'trace',
] as const;
export type Field = string;

const mostPaths = 20;
const mostHosts = 20;
const deepest = 16;
const mostText = 8 * 1024;
const pathNames = /(?:^|_)(?:path|paths|file|files|folder|dir|source|target|destination|from|to|cwd|root)$/;
const urlNames = /(?:^|_)(?:url|uri|host|address|endpoint)$/;

/** Where the request for approval is named: by the call that asked, by the call that ran, and by the decision. */
const taskMembers = [
  ['refusal', 'task'],
  ['consent', 'task'],
  ['arguments', 'task_id'],
] as const;

const decisionTools = /^(?:approvals|reviews)\.(?:approve|deny|decide)$/;

/** A person's decision about a call of an agent is a part of that agent's story. */
function aboutWhom({ principal, tool, event }: EntryFacts['payload']): string | undefined {
  const isDecision = typeof tool === 'string' && decisionTools.test(tool);
  const isEnd = typeof event === 'string' && event.startsWith('approval_');
  if (principal === 'agent' || isDecision || isEnd) return 'agents';
  return principal === 'operator' ? 'people' : undefined;
}

/** One thing that an entry can be asked for: `field\0value`, in small letters. */
export type Term = string;

export function termOf(field: Field, value: string): Term {
  return `${field}\0${value.toLowerCase()}`;
}

/** Every entry has it. */
export const anyTerm = termOf('any', '');

/** All that an entry can be asked for. Folders of a path, domains of a host and families of a tool are terms as well. */
export function termsOf({ kind, result, callId, sessionId, payload }: EntryFacts): ReadonlySet<Term> {
  const terms = new Set<Term>();
  const add = (field: Field, ...values: readonly unknown[]): void => {
    for (const value of values) if (typeof value === 'string' && value !== '') terms.add(termOf(field, value));
  };
  add('kind', kind);
  terms.add(anyTerm);
  add('status', result);
  add('call', callId, payload['parent_call_id']);
  add('session', sessionId);
  add('agent', payload['agent']);
  add('about', aboutWhom(payload));
  add('door', payload['door']);
  add('event', payload['event']);
  add('trace', payload['trace_id'], payload['caller_trace_id']);
  for (const member of ['decision', 'refusal', 'error']) {
    const value = payload[member];
    if (!isJsonObject(value)) continue;
    add('rule', value['rule_id']);
    add('code', value['code']);
  }
  for (const [member, name] of taskMembers) {
    const value = payload[member];
    if (isJsonObject(value)) add('task', value[name]);
  }
  for (const name of [payload['tool'], payload['tool_as_named']]) add('tool', ...familiesOf(name));
  for (const path of findPaths(payload)) add('path', ...waysTo(path, payload['workspace']));
  for (const host of findHosts(payload)) add('host', ...domainsOf(host));
  return terms;
}

/** What can be searched by its words: what was asked for, and what came of it. */
export function textOf({ kind, payload }: EntryFacts): string {
  const parts =
    kind === 'event'
      ? [payload]
      : [payload['arguments'], payload['summary'], payload['error'], payload['refusal']].filter(
          (part) => part !== undefined,
        );
  const text = parts
    .map((part) => JSON.stringify(part))
    .join(' ')
    .slice(0, mostText);
  // The letter of an escape, such as that of a line's end, is no part of the word behind it.
  return text.includes('\\') ? text.replace(/\\(?:u[\da-f]{4}|.)/g, ' ') : text;
}

function familiesOf(tool: Json | undefined): string[] {
  if (typeof tool !== 'string') return [];
  const parts = tool.split('.').slice(0, deepest);
  return [tool, ...parts.slice(0, -1).map((_, at) => `${parts.slice(0, at + 1).join('.')}.*`)];
}

/** A file is found by its name, by its whole path, and by every folder that it is in. */
function waysTo(path: string, workspace: Json | undefined): string[] {
  const clean = posix.normalize(path).replace(/(?<=.)\/$/, '');
  const whole = clean.startsWith('/') || typeof workspace !== 'string' ? clean : posix.join(workspace, clean);
  return [...new Set([posix.basename(clean), ...foldersOf(clean), ...foldersOf(whole)])];
}

function foldersOf(path: string): string[] {
  const ways: string[] = [];
  for (let way = path; ways.length < deepest && way !== '.' && way !== '/'; way = posix.dirname(way)) ways.push(way);
  return ways;
}

function findPaths(payload: EntryFacts['payload']): string[] {
  const images = payload['before_images'];
  const changed = Array.isArray(images)
    ? images.flatMap((image: Json) => (isJsonObject(image) ? [image['path']] : []))
    : [];
  return [...findNamed(payload['arguments'], pathNames), ...changed]
    .filter((path): path is string => typeof path === 'string' && path.length < 4096)
    .slice(0, mostPaths);
}

function findHosts(payload: EntryFacts['payload']): string[] {
  const network = payload['network'];
  const asked = Array.isArray(network)
    ? network.flatMap((each: Json) => (isJsonObject(each) ? [each['target']] : []))
    : [];
  return [...asked, ...findNamed(payload['arguments'], urlNames)]
    .flatMap((target) => (typeof target === 'string' ? [hostOf(target)] : []))
    .filter((host) => host !== '')
    .slice(0, mostHosts);
}

function hostOf(target: string): string {
  const url = URL.parse(target.includes('://') ? target : `http://${target}`);
  return url?.hostname ?? '';
}

function domainsOf(host: string): string[] {
  if (/^[\d.]+$|^\[/.test(host)) return [host];
  const labels = host.split('.').slice(-deepest);
  return labels.map((_, at) => labels.slice(at).join('.'));
}

/** The texts under members of such a name, at any depth. */
function findNamed(value: Json | undefined, names: RegExp, depth = 0): string[] {
  if (depth > 6 || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.slice(0, mostPaths).flatMap((item: Json) => findNamed(item, names, depth + 1));
  return Object.entries(value).flatMap(([name, member]) => {
    if (!names.test(name)) return findNamed(member, names, depth + 1);
    return [member].flat().filter((each): each is string => typeof each === 'string');
  });
}
