import type { Profile } from '../../call/organisation.ts';
import { Remembered } from '../../call/remembered.ts';
import { compileRule } from '../language/compile-rules.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import { matchesName } from '../patterns/name-pattern.ts';
import { readToolPattern } from '../language/read-patterns.ts';
import { builtInRules } from './rule-judge.ts';
import type { Rule } from '../language/rule.ts';
import type { YamlReader } from '../../text/yaml-reader.ts';
import type { YamlNode } from '../../text/yaml-node.ts';

export const rolesKeys = ['version', 'roles', 'members', 'default'] as const;
export const roleKeys = ['tools', 'extends'] as const;
export const memberKeys = ['agents', 'roles', 'teams'] as const;

/** Who has which roles, and what they may use. */
export interface RoleBook {
  readonly membershipOf: (
    agent: string,
    profile?: Profile,
  ) => { readonly roles: readonly string[]; readonly teams: readonly string[] };
  /** Denies agents with roles every tool that none of their roles has. */
  readonly gate: CompiledRule;
}

/** What roles.yaml says. */
export interface RoleEntries {
  /** Each role with all its tools, those of the roles that it extends included. */
  readonly toolsOf: ReadonlyMap<string, readonly string[]>;
  readonly members: readonly Member[];
  readonly byDefault: readonly string[];
  readonly file: string;
  readonly line: number;
}

/** Remembered at once. */
const mostAgents = 1024;

/** What an agent of a team is whom nobody gave a role. */
const leastRole = 'worker';

/** What holds without a file, or without roles in it. */
const defaultRoles: RoleEntries['toolsOf'] = new Map([
  ['worker', ['read_file', 'list_directory', 'search_code']],
  ['manager', ['read_file', 'list_directory', 'search_code', 'write_file', 'http_get']],
  ['director', ['*']],
]);

export const noRoleEntries: RoleEntries = { toolsOf: defaultRoles, members: [], byDefault: [], file: '', line: 1 };

interface Member {
  readonly agents: readonly string[];
  readonly roles: readonly string[];
  readonly teams: readonly string[];
}

/** The contents of roles.yaml. What could not be read is noted with the reader, and then nothing loads. */
export function readRoleEntries(root: YamlNode, reader: YamlReader): RoleEntries {
  const fields = reader.readFields(root, 'roles.yaml', rolesKeys, []);
  if (fields?.version !== undefined) reader.readInteger(fields.version, 'version', { min: 1, max: 1 });
  const toolsOf = fields?.roles === undefined ? defaultRoles : readRoles(fields.roles, reader);
  const readNames = (node: YamlNode | undefined, key: string) =>
    (node && readKnownRoles(node, key, toolsOf, reader)) ?? [];
  const byDefault = readNames(fields?.default, 'default');
  const members = ((fields?.members && reader.readList(fields.members, 'members')) ?? []).flatMap((node) =>
    readMember(node, reader, readNames),
  );
  return { toolsOf, members, byDefault, file: reader.file, line: reader.locate(root).line };
}

export function createRoleBook({ toolsOf, members, byDefault, file, line }: RoleEntries): RoleBook {
  const find = (agent: string, profile: Profile | undefined): ReturnType<RoleBook['membershipOf']> => {
    const fitting = members.filter(({ agents }) => agents.some((pattern) => matchesName(pattern, agent)));
    const given = fitting.length === 0 ? byDefault : [...new Set(fitting.flatMap((member) => member.roles))];
    const roles = given.length === 0 && profile === 'team' ? [leastRole] : given;
    return { roles, teams: [...new Set(fitting.flatMap((member) => member.teams))] };
  };
  // Every call asks, and the answer hangs on the name and the file alone.
  const inTeam = new Remembered(mostAgents, (agent: string) => find(agent, 'team'));
  const alone = new Remembered(mostAgents, (agent: string) => find(agent, 'personal'));
  const membershipOf: RoleBook['membershipOf'] = (agent, profile) => (profile === 'team' ? inTeam : alone).of(agent);
  return { membershipOf, gate: buildGate(toolsOf, file, line) };
}

/** Each role with all its tools, those of the roles that it extends included. */
function readRoles(node: YamlNode, reader: YamlReader): ReadonlyMap<string, readonly string[]> {
  const toolsOf = new Map<string, readonly string[]>();
  for (const { name, key, value } of reader.readEntries(node, 'roles') ?? []) {
    if (!/^[a-z][a-z0-9_-]{0,63}$/.test(name)) {
      reader.note(key, 'a role is named with small letters, digits, "-" and "_"');
      continue;
    }
    const fields = reader.readFields(value, `role ${name}`, roleKeys, ['tools']);
    const tools = fields?.tools && reader.readItems(fields.tools, 'tools', (item) => readToolPattern(item, reader));
    // Only earlier roles are known here, so that no chain leads back to where it started.
    const inherited = (fields?.extends && readKnownRoles(fields.extends, 'extends', toolsOf, reader)) ?? [];
    toolsOf.set(name, [...(tools ?? []), ...inherited.flatMap((role) => toolsOf.get(role) ?? [])]);
  }
  return toolsOf;
}

function readKnownRoles(
  node: YamlNode,
  key: string,
  known: ReadonlyMap<string, unknown>,
  reader: YamlReader,
): readonly string[] | undefined {
  return reader.readItems(node, key, (item) => {
    const name = reader.readString(item, key, 64);
    if (name === undefined || known.has(name)) return name;
    return reader.note(
      item,
      `${key} names a role that is not defined above it; known: ${[...known.keys()].join(', ')}`,
    );
  });
}

function readMember(
  node: YamlNode,
  reader: YamlReader,
  readNames: (node: YamlNode | undefined, key: string) => readonly string[],
): readonly Member[] {
  const fields = reader.readFields(node, 'a member', memberKeys, ['agents']);
  const texts = (key: 'agents' | 'teams') =>
    (fields?.[key] && reader.readItems(fields[key], key, (item) => reader.readString(item, key, 200))) ?? [];
  if (fields === undefined) return [];
  return [{ agents: texts('agents'), roles: readNames(fields.roles, 'roles'), teams: texts('teams') }];
}

function buildGate(toolsOf: ReadonlyMap<string, readonly string[]>, file: string, line: number): CompiledRule {
  const rule: Rule = {
    id: builtInRules.outsideRole,
    effect: 'deny',
    tools: ['*'],
    who: ['agent'],
    approvalWaived: false,
    acceptsNew: false,
    shadow: false,
    reason: 'None of the roles of this agent has the tool.',
    remedy: 'Ask an agent whose role has it to make the call, or ask the operator for another role.',
    examples: [],
    file,
    line,
  };
  const compiled = compileRule(rule);
  const covers = new Map(
    [...toolsOf].map(([role, tools]) => {
      const { coversTool } = compileRule({ ...rule, tools, effect: 'allow' });
      return [role, coversTool] as const;
    }),
  );
  return {
    ...compiled,
    reference: file === '' ? { id: rule.id } : compiled.reference,
    circumstances: [
      {
        key: 'roles',
        holds: ({ roles, tool, toolGranted, profile }) =>
          roles === undefined || tool === undefined
            ? undefined
            : // Roles that no file defines mean something in teams only.
              (file !== '' || profile === 'team') &&
              toolGranted !== true &&
              roles.length > 0 &&
              !roles.some((role) => covers.get(role)?.(tool) === true),
        isSteady: true,
        mismatch: () => 'the rule is not for these roles',
      },
    ],
  };
}
