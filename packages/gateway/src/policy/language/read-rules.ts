import { dropUndefined } from '@sallyport/contract';
import { modes } from '../../call/session.ts';
import {
  circumstanceKeys,
  circumstanceNames,
  exampleCircumstances,
  exampleNames,
  readKeys,
} from './circumstance-keys.ts';
import { readGrants } from './read-grants.ts';
import {
  readCommandPattern,
  readGitOperation,
  readHostPattern,
  readPathPattern,
  readToolPattern,
} from './read-patterns.ts';
import { noToolEntries, readToolEntries } from './read-tool-entries.ts';
import type { ToolEntries } from './read-tool-entries.ts';
import { builtInRules } from '../judge/rule-judge.ts';
import { accesses, effects, origins, principals } from './rule.ts';
import type { Example, Rule } from './rule.ts';
import type { Fields, YamlReader } from '../../text/yaml-reader.ts';
import { scalarOf } from '../../text/yaml-node.ts';
import type { YamlNode } from '../../text/yaml-node.ts';

export const fileKeys = ['version', 'rules', 'tools'] as const;
export const ruleKeys = [
  'id',
  'effect',
  'tools',
  'origins',
  'who',
  'modes',
  ...circumstanceNames,
  'within',
  'paths',
  'except_paths',
  'access',
  'commands',
  'hosts',
  'except_hosts',
  'git_operations',
  'providers',
  'models',
  'apps',
  'approval',
  'approvers',
  'grants',
  'rewrite',
  'accept_new',
  'shadow',
  'reason',
  'remedy',
  'match',
  'not_match',
] as const;
export const exampleKeys = [
  'tool',
  'origin',
  'path',
  'access',
  'command',
  'host',
  'git_operation',
  'provider',
  'model',
  'app',
  'who',
  'mode',
  ...exampleNames,
] as const;

/** The rules of tools.yaml that could be read; what could not is noted with the reader. */
export function readRules(root: YamlNode, reader: YamlReader): ToolEntries {
  const fields = reader.readFields(root, 'tools.yaml', fileKeys, []);
  if (fields?.version !== undefined) reader.readInteger(fields.version, 'version', { min: 1, max: 1 });
  const listed = (fields?.rules && reader.readList(fields.rules, 'rules')) ?? [];
  const written = listed.map((node) => ({ node, rule: readRule(node, reader) }));
  const entries = fields?.tools === undefined ? noToolEntries : readToolEntries(fields.tools, reader);
  const lineOf = new Map<string, number>(entries.rules.map(({ id, line }) => [id, line]));
  for (const { node, rule } of written) {
    const earlier = rule && lineOf.get(rule.id);
    if (rule === undefined) continue;
    if (earlier !== undefined) reader.note(node, `id ${rule.id} is taken by the rule in line ${earlier}`);
    lineOf.set(rule.id, rule.line);
  }
  const rules = written.map(({ rule }) => rule).filter((rule) => rule !== undefined);
  return { ...entries, rules: [...rules, ...entries.rules] };
}

export function readRule(node: YamlNode, reader: YamlReader): Rule | undefined {
  const problemsBefore = reader.problems.length;
  const fields = reader.readFields(node, 'a rule', ruleKeys, ['id', 'effect', 'tools']);
  if (fields === undefined) return undefined;
  const id = fields.id && readId(fields.id, reader);
  const effect = fields.effect && reader.readOneOf(fields.effect, 'effect', effects);
  const tools = fields.tools && reader.readItems(fields.tools, 'tools', (item) => readToolPattern(item, reader));
  const optional = readOptional(fields, reader);
  const waiver = readApproval(fields.approval, effect, reader);
  const approvers = fields.approvers && readApprovers(fields.approvers, fields, reader);
  const acceptsNew = readAcceptNew(fields.accept_new, effect, reader);
  const shadow = fields.shadow !== undefined && reader.readBoolean(fields.shadow, 'shadow') === true;
  const grants = fields.grants && readGrants(fields.grants, reader);
  if (fields.grants !== undefined && effect === 'deny')
    reader.note(fields.grants, 'grants do not go with effect: deny');
  const rewrite = fields.rewrite && readRewrite(fields.rewrite, fields, reader);
  const examples = [...readExamples(fields, 'match', reader), ...readExamples(fields, 'not_match', reader)];
  if (id === undefined || effect === undefined || tools === undefined) return undefined;
  if (reader.problems.length > problemsBefore) return undefined;
  const { line } = reader.locate(node);
  return {
    id,
    effect,
    tools,
    ...optional,
    approvalWaived: waiver !== undefined,
    ...(waiver === 'waived_below_high' ? { highRiskAsks: true } : {}),
    ...(approvers === undefined ? {} : { approvers }),
    acceptsNew,
    shadow,
    ...dropUndefined({ grants, rewrite }),
    examples,
    file: reader.file,
    line,
  };
}

function readOptional(fields: Fields<(typeof ruleKeys)[number]>, reader: YamlReader) {
  type Key = keyof typeof fields;
  const items = <T>(key: Key, readItem: (item: YamlNode) => T | undefined) =>
    fields[key] && reader.readItems(fields[key], key, readItem);
  const oneOf = <T extends string>(key: Key, allowed: readonly T[]) =>
    items(key, (item) => reader.readOneOf(item, key, allowed));
  const names = (key: Key) => items(key, (item) => reader.readString(item, key));
  const paths = (key: Key) => items(key, (item) => readPathPattern(item, key, reader));
  const hosts = (key: Key) => items(key, (item) => readHostPattern(item, reader));
  if (fields.within !== undefined && fields.after === undefined) {
    reader.note(fields.within, 'within goes with after only');
  }
  return dropUndefined({
    ...readKeys(circumstanceKeys, fields, reader),
    origins: oneOf('origins', origins),
    who: oneOf('who', principals),
    modes: oneOf('modes', modes),
    paths: paths('paths'),
    exceptPaths: paths('except_paths'),
    access: oneOf('access', accesses),
    commands: items('commands', (item) => readCommandPattern(item, reader)),
    hosts: hosts('hosts'),
    exceptHosts: hosts('except_hosts'),
    gitOperations: items('git_operations', (item) => readGitOperation(item, reader)),
    providers: names('providers'),
    models: names('models'),
    apps: names('apps'),
    reason: fields.reason && reader.readString(fields.reason, 'reason'),
    remedy: fields.remedy && reader.readString(fields.remedy, 'remedy'),
  });
}

function readId(node: YamlNode, reader: YamlReader): string | undefined {
  const id = reader.readString(node, 'id', 64);
  if (id === undefined) return undefined;
  if (!/^[a-z0-9-]+$/.test(id)) return reader.note(node, 'id may hold lower-case letters, digits and "-" only');
  const reserved = Object.values<string>(builtInRules).includes(id);
  if (reserved) return reader.note(node, `id ${id} is kept for the gate itself`);
  return id;
}

function readAcceptNew(node: YamlNode | undefined, effect: Rule['effect'] | undefined, reader: YamlReader): boolean {
  const accepts = node !== undefined && reader.readBoolean(node, 'accept_new') === true;
  if (accepts && effect !== undefined && effect !== 'allow') {
    reader.note(node, 'accept_new: true goes with effect: allow only');
  }
  return accepts;
}

const waivers = ['waived', 'waived_below_high'] as const;

function readApproval(
  node: YamlNode | undefined,
  effect: Rule['effect'] | undefined,
  reader: YamlReader,
): (typeof waivers)[number] | undefined {
  const waiver = node && reader.readOneOf(node, 'approval', waivers);
  if (node !== undefined && waiver !== undefined && effect !== undefined && effect !== 'allow') {
    reader.note(node, `approval: ${waiver} goes with effect: allow only`);
  }
  return waiver;
}

/** Only a client has a command of its own that ours can take the place of. */
function readRewrite(
  node: YamlNode,
  { effect, origins: named }: Fields<(typeof ruleKeys)[number]>,
  reader: YamlReader,
): Rule['rewrite'] {
  if (scalarOf(effect) === 'deny') reader.note(node, 'rewrite does not go with effect: deny');
  const from = named?.kind === 'list' ? named.items.map(scalarOf) : [];
  if (from.length !== 1 || from[0] !== 'client') reader.note(node, 'rewrite goes with origins: [client] only');
  return reader.readOneOf(node, 'rewrite', ['sandbox']);
}

/** Agents by their names, one by one. They have something to decide only where the rule can lead to a question. */
function readApprovers(
  node: YamlNode,
  { effect, approval, who }: Fields<(typeof ruleKeys)[number]>,
  reader: YamlReader,
): readonly string[] | undefined {
  if (scalarOf(effect) === 'deny') reader.note(node, 'approvers do not go with effect: deny');
  if (approval !== undefined) reader.note(node, 'approvers do not go with approval: waived, where nobody is asked');
  const callers = who?.kind === 'list' ? who.items.map(scalarOf) : ['agent'];
  if (!callers.includes('agent'))
    reader.note(node, 'approvers decide about calls of agents, and this rule is not for agents');
  return reader.readItems(node, 'approvers', (item) => {
    const name = reader.readString(item, 'approvers', 128);
    if (name === undefined || /^[A-Za-z0-9._@-]+$/.test(name)) return name;
    return reader.note(item, 'approvers are agents by their full names; patterns such as * are not possible here');
  });
}

function readExamples(
  fields: Fields<(typeof ruleKeys)[number]>,
  expected: Example['expected'],
  reader: YamlReader,
): readonly Example[] {
  const node = fields[expected];
  return (node && reader.readItems(node, expected, (item) => readExample(item, expected, reader))) ?? [];
}

function readExample(node: YamlNode, expected: Example['expected'], reader: YamlReader): Example | undefined {
  const fields = reader.readFields(node, 'an example', exampleKeys, ['tool']);
  const tool = fields?.tool && reader.readString(fields.tool, 'tool', 200);
  if (fields === undefined || tool === undefined) return undefined;
  const text = (key: 'command' | 'host' | 'git_operation' | 'provider' | 'model' | 'app') =>
    fields[key] && reader.readString(fields[key], key);
  const optional = dropUndefined({
    origin: fields.origin && reader.readOneOf(fields.origin, 'origin', origins),
    path: fields.path && reader.readString(fields.path, 'path', Infinity),
    access: fields.access && reader.readOneOf(fields.access, 'access', accesses),
    command: text('command'),
    host: text('host'),
    gitOperation: text('git_operation'),
    provider: text('provider'),
    model: text('model'),
    app: text('app'),
    who: fields.who && reader.readOneOf(fields.who, 'who', principals),
    mode: fields.mode && reader.readOneOf(fields.mode, 'mode', modes),
  });
  return {
    expected,
    tool,
    ...optional,
    ...readKeys(exampleCircumstances, fields, reader),
    position: reader.locate(node),
  };
}
