import { ConfigError } from '../../call/fault.ts';
import { readYaml } from '../../text/read-yaml.ts';
import { YamlReader } from '../../text/yaml-reader.ts';
import type { YamlNode } from '../../text/yaml-node.ts';
import type { PathVariables } from '../judge/place-path.ts';
import { checkExamples } from './check-examples.ts';
import { compileRule } from './compile-rules.ts';
import { readRule } from './read-rules.ts';
import type { Rule } from './rule.ts';

const projectFileKeys = ['version', 'rules'] as const;

/** What in a rule would let something through, or speak for the gate as a whole. */
const widening = ['grants', 'rewrite', 'approval', 'approvers', 'accept_new', 'shadow'] as const;

/**
 * The rules of one project. They speak about agents, and only deny and ask: whatever stands there, no more is allowed than
 * without it. Throws one ConfigError that lists every problem.
 */
export function readProjectRules(file: string, bytes: Uint8Array, variables: PathVariables): readonly Rule[] {
  const yaml = readYaml({ file, bytes });
  const reader = new YamlReader(yaml);
  const rules = yaml.root === undefined ? [] : readRoot(yaml.root, reader);
  const failed = rules.flatMap((rule) => checkExamples(compileRule(rule), variables));
  const problems = [...yaml.problems, ...reader.problems, ...failed];
  if (problems.length === 0) return rules;
  const shown = problems.slice(0, 50).map(({ line, column, message }) => `${file}:${line}:${column}  ${message}`);
  throw new ConfigError(['The rules of the project cannot be used.', ...shown].join('\n'), 'Correct the lines above.');
}

function readRoot(root: YamlNode, reader: YamlReader): readonly Rule[] {
  const fields = reader.readFields(root, 'project rules', projectFileKeys, []);
  if (fields?.version !== undefined) reader.readInteger(fields.version, 'version', { min: 1, max: 1 });
  const listed = (fields?.rules && reader.readList(fields.rules, 'rules')) ?? [];
  return listed.flatMap((node) => {
    const rule = readRule(node, reader);
    if (rule === undefined) return [];
    for (const problem of findWidening(node, rule)) reader.note(node, problem);
    return [{ ...rule, who: ['agent'] as const }];
  });
}

function findWidening(node: YamlNode, { id, effect, who }: Rule): readonly string[] {
  const keys = node.kind === 'map' ? node.entries.map(({ name }) => name) : [];
  return [
    ...(effect === 'allow'
      ? [`rule ${id} allows something; the rules of a project only deny and require_approval`]
      : []),
    ...(who?.includes('operator') === true
      ? [`rule ${id} is about operators; the rules of a project are about agents`]
      : []),
    ...widening
      .filter((key) => keys.includes(key))
      .map((key) => `rule ${id} has ${key}, which is not for the rules of a project`),
  ];
}
