import { applyEdits, findNodeAtLocation, getNodeValue, modify, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Node, ParseError } from 'jsonc-parser';

/** What a client runs at one event. */
export interface HookGroup {
  /** Which tools it is for. Absent: the event has nothing to do with tools. */
  readonly matcher?: string;
  readonly hooks: readonly { readonly type: string; readonly command: string; readonly timeout: number }[];
}

/** The settings of somebody's client cannot be edited; the message says why, as the end of a sentence. */
export class SettingsUnclear extends Error {}

/**
 * Adds our hooks to the text of a settings file, and changes nothing else in it: comments, order and layout stay. Those
 * that are there already, by their command, stay as they are. Throws SettingsUnclear.
 */
export function addHooks(text: string, hooks: Readonly<Record<string, HookGroup>>): string {
  let edited = text.trim() === '' ? '{}\n' : text;
  for (const [event, group] of Object.entries(hooks)) {
    const root = parseSettings(edited);
    const present = findNodeAtLocation(root, ['hooks', event]);
    if (present !== undefined && present.type !== 'array') throw new SettingsUnclear(`hooks.${event} is no list`);
    if (holdsCommand(present, group.hooks[0]?.command ?? '')) continue;
    const last = present?.children?.at(-1);
    edited = last === undefined ? setList(edited, event, group) : append(edited, last, group);
  }
  return edited;
}

function setList(text: string, event: string, group: HookGroup): string {
  return applyEdits(text, modify(text, ['hooks', event], [group], { formattingOptions: layoutOf(text) }));
}

/** Behind the last entry of a list, without touching it. A comma that stands there already is used. */
function append(text: string, last: Node, group: HookGroup): string {
  const { insertSpaces, tabSize, eol } = layoutOf(text);
  const [lead = ''] = /[ \t]*$/.exec(text.slice(0, last.offset)) ?? [];
  const written = JSON.stringify(group, undefined, insertSpaces ? tabSize : '\t').replaceAll('\n', `${eol}${lead}`);
  const end = last.offset + last.length;
  const [comma = ''] = /^\s*,/.exec(text.slice(end)) ?? [];
  const entry = comma === '' ? `,${eol}${lead}${written}` : `${comma}${eol}${lead}${written},`;
  return text.slice(0, end) + entry + text.slice(end + comma.length);
}

/** Whether all of them are there. Text that is no settings file holds none. */
export function hasHooks(text: string, hooks: Readonly<Record<string, HookGroup>>): boolean {
  try {
    const root = parseSettings(text);
    return Object.entries(hooks).every(
      ([
        event,
        {
          hooks: [first],
        },
      ]) => holdsCommand(findNodeAtLocation(root, ['hooks', event]), first?.command ?? ''),
    );
  } catch {
    return false;
  }
}

function parseSettings(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    throw new SettingsUnclear(`it is no JSON: ${printParseErrorCode(first.error)} at character ${first.offset}`);
  }
  if (root?.type !== 'object') throw new SettingsUnclear('it is no JSON object');
  const hooks = findNodeAtLocation(root, ['hooks']);
  if (hooks !== undefined && hooks.type !== 'object') throw new SettingsUnclear('its "hooks" is no object');
  return root;
}

function holdsCommand(groups: Node | undefined, command: string): boolean {
  const listed: unknown = groups === undefined ? [] : getNodeValue(groups);
  return JSON.stringify(listed).includes(JSON.stringify(command));
}

/** As the file is written already. */
function layoutOf(text: string) {
  const [, indent = '  '] = /\n([ \t]+)"/.exec(text) ?? [];
  return {
    insertSpaces: !indent.includes('\t'),
    tabSize: indent.includes('\t') ? 4 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}
