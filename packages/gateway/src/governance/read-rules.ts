import type { Node } from 'yaml';
import { modes } from '../model/session.ts';
import { parsePathPattern, PathPatternError } from './path-pattern.ts';
import { builtInRules } from './rule-judge.ts';
import { accesses, effects, principals } from './rule.ts';
import type { Example, Rule } from './rule.ts';
import type { Fields, YamlReader } from './yaml-reader.ts';

export const fileKeys = ['version', 'rules'] as const;
export const ruleKeys = [
  'id',
  'effect',
  'tools',
  'who',
  'agents',
  'modes',
  'paths',
  'except_paths',
  'access',
  'approval',
  'reason',
  'remedy',
  'match',
  'not_match',
] as const;
export const exampleKeys = ['tool', 'path', 'access', 'who', 'agent', 'mode'] as const;

const toolPattern = /^[A-Za-z0-9_*][A-Za-z0-9_.*-]*$/;

/** The rules of tools.yaml that could be read; what could not is noted with the reader. */
export function readRules(root: Node, reader: YamlReader): readonly Rule[] {
  const fields = reader.readFields(root, 'tools.yaml', fileKeys, fileKeys);
  if (fields?.version !== undefined) reader.readInteger(fields.version, 'version', { min: 1, max: 1 });
  if (fields?.rules === undefined) return [];
  const rules: Rule[] = [];
  const lineOf = new Map<string, number>();
  for (const node of reader.readList(fields.rules, 'rules') ?? []) {
    const rule = readRule(node, reader);
    if (rule === undefined) continue;
    const earlier = lineOf.get(rule.id);
    if (earlier !== undefined) reader.note(node, `id ${rule.id} is taken by the rule in line ${earlier}`);
    lineOf.set(rule.id, rule.line);
    rules.push(rule);
  }
  return rules;
}

function readRule(node: Node, reader: YamlReader): Rule | undefined {
  const problemsBefore = reader.problems.length;
  const fields = reader.readFields(node, 'a rule', ruleKeys, ['id', 'effect', 'tools']);
  if (fields === undefined) return undefined;
  const id = fields.id && readId(fields.id, reader);
  const effect = fields.effect && reader.readOneOf(fields.effect, 'effect', effects);
  const tools = fields.tools && reader.readItems(fields.tools, 'tools', (item) => readToolPattern(item, reader));
  const optional = readOptional(fields, reader);
  const approvalWaived = readApproval(fields.approval, effect, reader);
  const examples = [...readExamples(fields, 'match', reader), ...readExamples(fields, 'not_match', reader)];
  if (id === undefined || effect === undefined || tools === undefined) return undefined;
  if (reader.problems.length > problemsBefore) return undefined;
  const { line } = reader.locate(node);
  return { id, effect, tools, ...optional, approvalWaived, examples, file: reader.file, line };
}

type OptionalParts = Pick<Rule, 'who' | 'agents' | 'modes' | 'paths' | 'exceptPaths' | 'access' | 'reason' | 'remedy'>;

function readOptional(fields: Fields<(typeof ruleKeys)[number]>, reader: YamlReader): OptionalParts {
  const oneOf = <T extends string>(node: Node | undefined, key: string, allowed: readonly T[]) =>
    node && reader.readItems(node, key, (item) => reader.readOneOf(item, key, allowed));
  const patterns = (node: Node | undefined, key: string) =>
    node && reader.readItems(node, key, (item) => readPathPattern(item, key, reader));
  return dropUndefined({
    who: oneOf(fields.who, 'who', principals),
    agents: fields.agents && reader.readItems(fields.agents, 'agents', (item) => reader.readString(item, 'agents')),
    modes: oneOf(fields.modes, 'modes', modes),
    paths: patterns(fields.paths, 'paths'),
    exceptPaths: patterns(fields.except_paths, 'except_paths'),
    access: oneOf(fields.access, 'access', accesses),
    reason: fields.reason && reader.readString(fields.reason, 'reason'),
    remedy: fields.remedy && reader.readString(fields.remedy, 'remedy'),
  });
}

function readId(node: Node, reader: YamlReader): string | undefined {
  const id = reader.readString(node, 'id', 64);
  if (id === undefined) return undefined;
  if (!/^[a-z0-9-]+$/.test(id)) return reader.note(node, 'id may hold lower-case letters, digits and "-" only');
  const reserved = Object.values<string>(builtInRules).includes(id);
  if (reserved) return reader.note(node, `id ${id} is kept for the gate itself`);
  return id;
}

export function readToolPattern(node: Node, reader: YamlReader): string | undefined {
  const pattern = reader.readString(node, 'tools', 200);
  if (pattern === undefined || toolPattern.test(pattern)) return pattern;
  return reader.note(node, 'a tool is named like files.read, with "*" for any text in it');
}

function readPathPattern(node: Node, key: string, reader: YamlReader): string | undefined {
  const pattern = reader.readString(node, key, Infinity);
  if (pattern === undefined) return undefined;
  try {
    parsePathPattern(pattern);
    return pattern;
  } catch (error) {
    if (!(error instanceof PathPatternError)) throw error;
    return reader.note(node, `this pattern ${error.message}`);
  }
}

function readApproval(node: Node | undefined, effect: Rule['effect'] | undefined, reader: YamlReader): boolean {
  if (node === undefined || reader.readOneOf(node, 'approval', ['waived']) === undefined) return false;
  if (effect !== undefined && effect !== 'allow') reader.note(node, 'approval: waived goes with effect: allow only');
  return true;
}

function readExamples(
  fields: Fields<(typeof ruleKeys)[number]>,
  expected: Example['expected'],
  reader: YamlReader,
): readonly Example[] {
  const node = fields[expected];
  return (node && reader.readItems(node, expected, (item) => readExample(item, expected, reader))) ?? [];
}

function readExample(node: Node, expected: Example['expected'], reader: YamlReader): Example | undefined {
  const fields = reader.readFields(node, 'an example', exampleKeys, ['tool']);
  const tool = fields?.tool && reader.readString(fields.tool, 'tool', 200);
  if (fields === undefined || tool === undefined) return undefined;
  const optional = dropUndefined({
    path: fields.path && reader.readString(fields.path, 'path', Infinity),
    access: fields.access && reader.readOneOf(fields.access, 'access', accesses),
    who: fields.who && reader.readOneOf(fields.who, 'who', principals),
    agent: fields.agent && reader.readString(fields.agent, 'agent'),
    mode: fields.mode && reader.readOneOf(fields.mode, 'mode', modes),
  });
  return { expected, tool, ...optional, position: reader.locate(node) };
}

/** Optional properties are absent rather than undefined. */
function dropUndefined<T extends object>(parts: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as never;
}
