import { attempt } from '@sallyport/contract';
import { applyEdits, findNodeAtLocation, getNodeValue, modify, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { JSONPath, Node, ParseError } from 'jsonc-parser';

/** The settings of somebody's client cannot be edited; the message says why, as the end of a sentence. */
export class SettingsUnclear extends Error {}

type Entry = Readonly<Record<string, unknown>>;

/**
 * Sets one member, or takes it away (`undefined`), and changes nothing else in the text: comments, order and layout stay.
 * Throws SettingsUnclear.
 */
export function setMember(text: string, path: JSONPath, value: unknown): string {
  const settings = text.trim() === '' ? '{}\n' : text;
  const root = parseSettings(settings);
  for (let length = 1; length < path.length; length++) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node !== undefined && node.type !== 'object') {
      throw new SettingsUnclear(`its "${path.slice(0, length).join('.')}" is not an object`);
    }
  }
  const present = findNodeAtLocation(root, path);
  if (present === undefined && value === undefined) return text;
  if (present !== undefined && value !== undefined && isSame(getNodeValue(present), value)) return text;
  const plain = applyEdits(settings, modify(settings, path, value, {}));
  const kept = editByRange(settings, root, path, value);
  // Where a comment stands in the way of a comma, the layout gives way.
  return kept !== undefined && hasSameMeaning(kept, plain) ? kept : plain;
}

function editByRange(text: string, root: Node, path: JSONPath, value: unknown): string | undefined {
  const present = findNodeAtLocation(root, path);
  if (value === undefined) return present?.parent === undefined ? undefined : cut(text, present.parent);
  if (present !== undefined) {
    const { parent: property = present } = present;
    return text.slice(0, present.offset) + write(text, property, value) + text.slice(present.offset + present.length);
  }
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(root, path.slice(0, depth)) === undefined) depth -= 1;
  const object = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth));
  if (object?.type !== 'object') return undefined;
  const inner = path.slice(depth + 1).reduceRight<unknown>((held, name) => ({ [name]: held }), value);
  return insertProperty(text, object, String(path[depth]), inner);
}

function insertProperty(text: string, object: Node, name: string, value: unknown): string {
  const last = object.children?.at(-1);
  if (last !== undefined)
    return append(text, last, (beside) => `${JSON.stringify(name)}: ${write(text, beside, value)}`);
  const { eol, indent } = layoutOf(text);
  const [lead = ''] = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', object.offset) + 1)) ?? [];
  const member = `${JSON.stringify(name)}: ${indentLines(text, value, lead + indent)}`;
  const end = object.offset + object.length - 1;
  const inside = text.slice(object.offset + 1, end).trimEnd();
  return `${text.slice(0, object.offset + 1)}${inside}${eol}${lead}${indent}${member}${eol}${lead}${text.slice(end)}`;
}

/** With its comma, and with its line when nothing else stands there. */
function cut(text: string, member: Node): string | undefined {
  const siblings = member.parent?.children ?? [];
  const before = siblings[siblings.indexOf(member) - 1];
  let start = member.offset;
  let end = member.offset + member.length;
  const [following] = /^\s*,/.exec(text.slice(end)) ?? [];
  if (following !== undefined) end += following.length;
  else if (before !== undefined) {
    const from = before.offset + before.length;
    const [comma] = /^\s*,/.exec(text.slice(from)) ?? [];
    if (comma === undefined) return undefined;
    return cut(text.slice(0, from) + text.slice(from + comma.length), shift(member, -comma.length));
  }
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const [lineEnd] = /^[ \t]*\r?\n/.exec(text.slice(end)) ?? [];
  if (text.slice(lineStart, start).trim() === '' && lineEnd !== undefined) {
    start = lineStart;
    end += lineEnd.length;
  } else end += /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  return text.slice(0, start) + text.slice(end);
}

const shift = ({ type, offset, length }: Node, by: number): Node => ({ type, length, offset: offset + by });

function hasSameMeaning(one: string, other: string): boolean {
  return attempt(() => isSame(getNodeValue(parseSettings(one)), getNodeValue(parseSettings(other)))) ?? false;
}

/** Nothing: the text has no such member, or is empty. Throws SettingsUnclear. */
export function readMember(text: string, path: JSONPath): unknown {
  if (text.trim() === '') return undefined;
  const node = findNodeAtLocation(parseSettings(text), path);
  return node === undefined ? undefined : (getNodeValue(node) as unknown);
}

/**
 * Puts an entry into a list of entries: in the place of the one that `isOurs` says is an earlier form of it, and behind
 * the last one otherwise. Throws SettingsUnclear.
 */
export function putEntry(text: string, path: JSONPath, entry: Entry, isOurs: (entry: unknown) => boolean): string {
  const settings = text.trim() === '' ? '{}\n' : text;
  const list = findNodeAtLocation(parseSettings(settings), path);
  if (list === undefined) return setMember(settings, path, [entry]);
  if (list.type !== 'array') throw new SettingsUnclear(`${path.join('.')} is not a list`);
  const earlier = list.children?.find((child) => isOurs(getNodeValue(child)));
  if (earlier !== undefined) {
    if (isSame(getNodeValue(earlier), entry)) return text;
    const written = write(settings, earlier, entry);
    return settings.slice(0, earlier.offset) + written + settings.slice(earlier.offset + earlier.length);
  }
  const last = list.children?.at(-1);
  if (last === undefined) return setMember(settings, path, [entry]);
  return append(settings, last, (beside) => write(settings, beside, entry));
}

/** Takes the entries out that `isOurs` says are ours. Throws SettingsUnclear. */
export function dropEntries(text: string, path: JSONPath, isOurs: (entry: unknown) => boolean): string {
  if (text.trim() === '') return text;
  const list = findNodeAtLocation(parseSettings(text), path);
  const ours = list?.type === 'array' ? list.children?.find((child) => isOurs(getNodeValue(child))) : undefined;
  const edited = ours && cut(text, ours);
  return edited === undefined ? text : dropEntries(edited, path, isOurs);
}

/** Behind the last entry of a list or an object, without touching it. A comma that stands there already is used. */
function append(text: string, last: Node, writeBeside: (beside: Node) => string): string {
  const { eol } = layoutOf(text);
  const lead = leadOf(text, last);
  const gap = lead === undefined ? ' ' : `${eol}${lead}`;
  const written = writeBeside(last);
  const end = last.offset + last.length;
  const [comma = ''] = /^\s*,/.exec(text.slice(end)) ?? [];
  const added = comma === '' ? `,${gap}${written}` : `${comma}${gap}${written},`;
  return text.slice(0, end) + added + text.slice(end + comma.length);
}

function write(text: string, beside: Node, value: unknown): string {
  const lead = leadOf(text, beside);
  return lead === undefined ? JSON.stringify(value) : indentLines(text, value, lead);
}

function indentLines(text: string, value: unknown, lead: string): string {
  const { indent, eol } = layoutOf(text);
  return JSON.stringify(value, undefined, indent).replaceAll('\n', `${eol}${lead}`);
}

/** What stands before it on its line. Undefined: it does not begin one. */
function leadOf(text: string, { offset }: Node): string | undefined {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return line.trim() === '' ? line : undefined;
}

function parseSettings(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    throw new SettingsUnclear(`it is not valid JSON: ${printParseErrorCode(first.error)} at character ${first.offset}`);
  }
  if (root?.type !== 'object') throw new SettingsUnclear('it is not a JSON object');
  const [repeated] = findRepeated(root);
  if (repeated !== undefined) throw new SettingsUnclear(`it says "${repeated}" twice`);
  return root;
}

/** Which of two the client takes, nobody knows. */
function findRepeated(node: Node): readonly string[] {
  const children = node.children ?? [];
  const names = node.type === 'object' ? children.map((each) => String(each.children?.[0]?.value)) : [];
  return [...names.filter((name, at) => names.indexOf(name) !== at), ...children.flatMap(findRepeated)];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** As the file is written already. */
function layoutOf(text: string) {
  const [, indent = '  '] = /\n([ \t]+)"/.exec(text) ?? [];
  return { indent: indent.includes('\t') ? '\t' : indent, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}
