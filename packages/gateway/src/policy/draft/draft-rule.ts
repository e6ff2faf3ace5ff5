import type { Json, JsonObject } from '@sallyport/contract';
import { ConfigError } from '../../call/fault.ts';
import type { PathClaim } from '../../call/tool.ts';
import type { Question } from '../../call/verdict.ts';
import { exactPathPattern } from '../judge/explain-denial.ts';
import type { RuleScope } from './rule-scopes.ts';

/** One key of a rule with its value, as it stands in the file. */
type Line = readonly [key: string, value: string];

const mostArguments = 20;

/**
 * The narrowest rules that allow a call: this tool from this origin, this caller, this mode, and exactly the things it
 * names; where it names none, its arguments. Each is an item of the list in tools.yaml, not indented. There are two when
 * the call reads some paths and writes others. Throws ConfigError when a pattern cannot say exactly this.
 *
 * With a scope, they also spare people the question that the tool asks by its risk, as far as the scope goes.
 */
export function draftRules(question: Question, idOf: (at: number) => string, scope?: RuleScope): readonly string[] {
  const { tool, principal, agent, mode, resources } = question;
  const args = scope?.pinned ?? question.arguments ?? {};
  if (/[*?]/.test(agent)) throw new ConfigError(`No rule can name the agent ${agent} alone: * and ? are patterns.`);
  const byAccess = Map.groupBy(resources.paths, ({ access }) => access);
  const groups = byAccess.size === 0 ? [[]] : [...byAccess.values()];
  const things = describeThings(question);
  const patterns = things.map(({ key, texts }): Line => [
    key,
    list(scope && key === 'commands' ? scope.commands : texts),
  ]);
  return groups.map((paths, at) => {
    const [first] = paths;
    const exact =
      scope?.paths.filter(({ access }) => access === first?.access).map(({ path }) => path) ??
      paths.map(({ path }) => exactPathPattern(path));
    const covered = resources.gitOperation === undefined ? exact : exact.flatMap(withAllBelow);
    const places: Line[] =
      first === undefined
        ? []
        : [
            ['paths', list(covered)],
            // Git also reads what it changes.
            ['access', resources.gitOperation === undefined ? `[${first.access}]` : list(['read', first.access])],
          ];
    const named = [...places, ...patterns];
    // What else the call said is pinned where nothing is named, and where people are spared a question.
    const pinned = named.length === 0 || scope !== undefined ? args : {};
    const lines: Line[] = [
      ['id', idOf(at)],
      ['effect', 'allow'],
      ['tools', list([tool.name])],
      ...(tool.origin === undefined ? [] : [['origins', `[${tool.origin}]`] as const]),
      ['who', `[${principal}]`],
      ...(principal === 'agent' ? [['agents', list([agent])] as const] : []),
      ['modes', `[${mode}]`],
      ...named,
      ...(Object.keys(pinned).length > 0 ? [['arguments', pin(pinned)] as const] : []),
      ...(scope === undefined ? [] : [['approval', 'waived'] as const]),
      ...describeExamples(question, first, things, { pinned, isWider: covered.some((path) => path.endsWith('*')) }),
    ];
    return lines
      .map(([key, value], line) => `${line === 0 ? '- ' : '  '}${key}:${value.startsWith('\n') ? '' : ' '}${value}\n`)
      .join('');
  });
}

/** Git opens what it needs anywhere in the folder that it was called for. */
function withAllBelow(pattern: string): readonly string[] {
  return pattern.endsWith('/**') ? [pattern] : [pattern, `${pattern === '/' ? '' : pattern}/**`];
}

interface Thing {
  readonly key: string;
  readonly inExample: string;
  readonly texts: readonly string[];
}

function describeThings({ resources }: Question): readonly Thing[] {
  const { commands = [], hosts = [], apps = [], gitOperation, provider, model } = resources;
  const one = (value: string | undefined): readonly string[] => (value === undefined ? [] : [value]);
  const things: Thing[] = [
    { key: 'commands', inExample: 'command', texts: commands },
    { key: 'hosts', inExample: 'host', texts: hosts },
    { key: 'git_operations', inExample: 'git_operation', texts: one(gitOperation?.toUpperCase()) },
    { key: 'providers', inExample: 'provider', texts: one(provider) },
    { key: 'models', inExample: 'model', texts: one(model) },
    { key: 'apps', inExample: 'app', texts: apps },
  ];
  const odd = things.find(({ key, texts }) => key !== 'commands' && texts.some((text) => /[*?]/.test(text)));
  if (odd !== undefined) throw new ConfigError(`No rule can name ${odd.texts.join(', ')} alone: * and ? are patterns.`);
  return things.filter(({ texts }) => texts.length > 0);
}

/** The call itself, and calls that are nearly the same and stay closed. */
function describeExamples(
  { tool, principal, agent, mode }: Question,
  path: PathClaim | undefined,
  things: readonly Thing[],
  { pinned: args, isWider }: { readonly pinned: JsonObject; readonly isWider: boolean },
): readonly Line[] {
  const who = principal === 'agent' ? { agent } : {};
  const origin = tool.origin === undefined ? {} : { origin: tool.origin };
  const call = {
    ...{ tool: tool.name, ...origin, who: principal, ...who, mode },
    ...(path === undefined ? {} : { path: path.path, access: path.access }),
    ...Object.fromEntries(things.map(({ inExample, texts }) => [inExample, texts[0] ?? ''])),
    ...(Object.keys(args).length === 0 ? {} : { arguments: args }),
  };
  const others = [
    ...(principal === 'agent' ? [{ ...call, agent: `${agent}-other` }] : []),
    ...(path === undefined ? [] : [{ ...call, path: isWider ? '/elsewhere' : `${path.path}-other` }]),
    ...(things.some(({ key }) => key === 'commands') ? [{ ...call, command: 'some-other-program' }] : []),
  ];
  const write = (examples: readonly object[]): string => examples.map((each) => `\n    - ${flow(each)}`).join('');
  return [['match', write([call])], ...(others.length === 0 ? [] : [['not_match', write(others)] as const])];
}

/** Every argument as it was. */
function pin(args: JsonObject): string {
  const entries = Object.entries(args);
  if (entries.length > mostArguments) throw new ConfigError('The call has too many arguments to be named in a rule.');
  const mapping = entries.find(([, value]) => holdsMapping(value))?.[0];
  if (mapping !== undefined) {
    throw new ConfigError(`The argument ${mapping} is a mapping, which a rule cannot name. Write the rule by hand.`);
  }
  const escape = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
  return `[${entries
    .map(([name, value]: [string, Json]) => flow({ pointer: `/${escape(name)}`, equals: value }))
    .join(', ')}]`;
}

function holdsMapping(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) ? (value as readonly Json[]).some(holdsMapping) : true;
}

function list(texts: readonly string[]): string {
  return `[${[...new Set(texts)].map(scalar).join(', ')}]`;
}

/** A mapping on one line. */
function flow(value: object): string {
  const entries = Object.entries(value).map(([key, each]: [string, Json]) => `${key}: ${scalar(each)}`);
  return `{ ${entries.join(', ')} }`;
}

/** What is more than a plain word is written as JSON, which YAML reads as it is. */
function scalar(value: Json): string {
  const isPlain = typeof value === 'string' && /^[A-Za-z/][\w./-]*$/.test(value) && !reservedWords.test(value);
  return isPlain ? value : JSON.stringify(value);
}

const reservedWords = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
