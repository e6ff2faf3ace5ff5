import { hash } from 'node:crypto';
import { canonicalJson, isJsonObject } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import type { ClientOutcome } from '../../call/client-run.ts';
import { malformed, readText } from '../http/json-fields.ts';
import type { HookEvent, HookPlace, MappedCall, UseOfTool } from './hook-event.ts';

/** What every client does, by the canonical tool that it means. Paths may be relative to where the client works. */
export const mapped = {
  command: (command: string, cwd: string, { home }: HookPlace): MappedCall => ({
    tool: 'shell.run',
    input: { command, cwd, ...(home === '' ? {} : { home }) },
  }),
  read: (path: string): MappedCall => ({ tool: 'files.read', input: { path: plain(path) } }),
  write: (path: string, content: string): MappedCall => ({
    tool: 'files.write',
    input: { path: plain(path), content },
  }),
  list: (path: string): MappedCall => ({ tool: 'files.list', input: { path: plain(path) } }),
  /** A pattern begins in a folder of its own: `/etc/*` has nothing to do with the one that is named beside it. */
  glob: (pattern: string, folder: string): MappedCall => {
    if (/(?:^|[/{,(|])\.\.(?:$|[/},)|])|[{,(|][/~]/.test(pattern)) {
      throw malformed('A pattern must not lead out of its folder: name the folder beside it.');
    }
    const fixed = pattern.slice(0, pattern.search(/[*?[{(!]|$/));
    return mapped.list(inFolder(plain(fixed).slice(0, fixed.lastIndexOf('/') + 1), folder));
  },
  /** `glob`: which files. Empty: all of them. */
  search: (path: string, pattern: string, glob = ''): MappedCall => ({
    tool: 'files.search',
    input: { path: plain(path), content: pattern || '.', ...(glob === '' ? {} : { name: glob }) },
  }),
  /** Our edit is of a passage that occurs once; any other one is judged as the tool of the client that it is. */
  edit: (
    path: string,
    from: string,
    to: string,
    { input, isOnce }: { input: JsonObject; isOnce: boolean },
  ): MappedCall =>
    isOnce && from !== ''
      ? { tool: 'files.edit', input: { path: plain(path), old_content: from, new_content: to } }
      : mapped.edits([path], input),
  edits: (paths: readonly string[], input: JsonObject): MappedCall => ({
    tool: 'client.edit',
    input: { paths: paths.map(plain), input },
  }),
  other: (tool: string, input: JsonObject): MappedCall => ({ tool: 'client.tool', input: { tool, input } }),
} as const;

/** Some clients expand it and some do not. A file that is called so can be named by its whole path. */
function plain(path: string): string {
  if (path.startsWith('~')) throw malformed('A path must not begin with ~: name the file by its whole path.');
  return path;
}

const patchedFile = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm;

/** A patch names its files in its own lines. */
export function mapPatch(patch: string, cwd: string): MappedCall {
  const paths = [...patch.matchAll(patchedFile)].map(([, file, moved]) => (file ?? moved ?? '').trim());
  if (paths.length === 0) throw malformed('The patch names no file.');
  return mapped.edits(
    paths.map((path) => inFolder(path, cwd)),
    { patch },
  );
}

export function inFolder(path: string, cwd: string): string {
  return path === '' || path.startsWith('/') ? path || cwd : `${cwd}/${plain(path)}`;
}

/** The first of these fields that has a text. Clients rename them from version to version. */
export function firstText(input: JsonObject, ...fields: readonly string[]): string {
  for (const field of fields) {
    const text = readText(input, field);
    if (text !== '') return text;
  }
  return '';
}

/** Throws RpcError for a use that could not be told apart from others. */
export function checkUse<Use extends UseOfTool>(use: Use, names: string): Use {
  if (use.clientSession === '' || use.useId === '' || !use.cwd.startsWith('/')) {
    throw malformed(`The hook must name ${names} and an absolute folder.`);
  }
  return use;
}

/** For clients that give no ids: the same before and after the use. */
export function deriveUseId(...parts: readonly (string | JsonObject)[]): string {
  return `use-${hash('sha256', canonicalJson(parts)).slice(0, 40)}`;
}

export function outcomeOf(response: unknown, isError: boolean): ClientOutcome {
  const output: JsonObject = isJsonObject(response as JsonObject)
    ? (response as JsonObject)
    : { text: typeof response === 'string' ? response : '' };
  return { isError, output };
}

/** An event that is not known. One before something is not waved through: a later version may have renamed it. */
export function otherEvent(payload: JsonObject, name: string): HookEvent {
  const isBefore = name === '' || /^(?:pre|before|tool\.)/i.test(name);
  if (isBefore || payload['tool_name'] !== undefined || payload['tool_input'] !== undefined) {
    throw malformed('This hook is not known.');
  }
  return { kind: 'other' };
}
