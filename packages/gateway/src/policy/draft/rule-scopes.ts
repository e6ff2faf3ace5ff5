import { dirname } from 'node:path';
import { makeVisible } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { isWithin } from '@sallyport/sandbox';
import { ConfigError } from '../../call/fault.ts';
import type { PathClaim } from '../../call/tool.ts';
import type { Question } from '../../call/verdict.ts';
import { exactPathPattern } from '../judge/explain-denial.ts';
import { parseCommand } from '../patterns/command-pattern.ts';
import { joinWords } from '../patterns/shell-words.ts';

/** How much a rule covers that spares people a question. */
export interface RuleScope {
  /** What it covers, as a sentence for the person who decides. */
  readonly words: string;
  readonly paths: readonly PathClaim[];
  readonly commands: readonly string[];
  /** Arguments that must be as they were. */
  readonly pinned: JsonObject;
}

/** Texts that differ from call to call; the thing that they change is named by its path. */
const contents = new Set(['content', 'old_content', 'new_content', 'message', 'input']);

/**
 * The scopes that a rule for a call can have: first exactly the call, then each a step wider. A person takes the steps, one
 * by one. Nothing wider is offered outside of the workspace. Throws ConfigError where a pattern could mean something else.
 */
export function listScopes(question: Question, workspace: string): readonly RuleScope[] {
  const scopes = chooseScopes(question, workspace);
  const { hosts = [] } = question.resources;
  for (const { paths, commands, pinned } of scopes.slice(0, 1)) {
    refuseOdd(
      paths.map(({ path }) => path),
      [...commands, ...hosts, ...textsOf(pinned)],
    );
  }
  return scopes;
}

function chooseScopes(question: Question, workspace: string): readonly RuleScope[] {
  const { resources, arguments: args = {} } = question;
  const { paths, commands = [], hosts = [] } = resources;
  const inside = (path: string): boolean => isWithin(workspace, path);
  if (commands.length > 0) return scopesOfCommands(question, inside);
  if (paths.length > 0) return scopesOfPaths(question, inside);
  const exact = { paths, commands, pinned: args };
  if (hosts.length > 0) {
    const wider = { words: `${question.tool.name} to ${hosts.join(', ')}, with any arguments.`, ...exact, pinned: {} };
    return [{ words: 'Exactly this request.', ...exact }, wider];
  }
  const named = question.tool.name === 'client.tool' ? args['tool'] : undefined;
  const ofTool =
    typeof named !== 'string'
      ? []
      : [{ words: `The tool ${named} of the client, with any arguments.`, ...exact, pinned: { tool: named } }];
  return [{ words: 'Exactly this call, with these arguments.', ...exact }, ...ofTool];
}

function scopesOfCommands(
  { resources: { paths, commands = [] }, arguments: args = {} }: Question,
  inside: (path: string) => boolean,
): readonly RuleScope[] {
  const folder = paths[0]?.path ?? '/';
  const patterns = [...new Set(commands.map(openEnd))];
  const programs = patterns.map((pattern) => `\`${pattern.slice(0, -2)}\``).join(', ');
  const below = paths.map((claim) => (isWithin(folder, claim.path) ? { ...claim, path: `${folder}/**` } : claim));
  const exact = { words: `Exactly this command, in ${folder}.`, paths, commands, pinned: args };
  const sameFiles = { paths, commands: patterns, pinned: {} };
  return [
    exact,
    { words: `${programs} with any further words, on the same files and in the same folder.`, ...sameFiles },
    ...(inside(folder)
      ? [{ words: `${programs} with any further words, on anything in ${folder}.`, ...sameFiles, paths: below }]
      : []),
  ];
}

function scopesOfPaths(
  { tool, resources: { paths }, arguments: args = {} }: Question,
  inside: (path: string) => boolean,
): readonly RuleScope[] {
  const names = paths.map(({ path }) => path).join(', ');
  const isContent = ([name]: [string, Json]): boolean => contents.has(name);
  const isPlace = ([, value]: [string, Json]): boolean =>
    [value].flat().length > 0 &&
    [value].flat().every((each) => typeof each === 'string' && paths.some(({ path }) => endsWith(path, each)));
  const others = Object.entries(args).filter((entry) => !isContent(entry) && !isPlace(entry));
  const exact: RuleScope = {
    words: `${tool.name} on exactly ${names}.`,
    ...{ paths, commands: [], pinned: Object.fromEntries(others) },
  };
  if (!paths.every(({ path }) => inside(path) && inside(dirname(path)))) return [exact];
  const folders = [...new Set(paths.map(({ path }) => dirname(path)))].join(', ');
  const widen = (end: string) => paths.map((claim) => ({ ...claim, path: `${dirname(claim.path)}/${end}` }));
  return [
    exact,
    { ...exact, words: `${tool.name} on the files directly in ${folders}.`, paths: widen('*') },
    { ...exact, words: `${tool.name} on everything below ${folders}.`, paths: widen('**') },
  ];
}

function endsWith(path: string, given: string): boolean {
  const plain = given.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
  return path === plain || path.endsWith(`/${plain}`);
}

/** The program, and what it is told to do where the first word says that, with any further words. */
function openEnd(command: string): string {
  const { words } = parseCommand(command) ?? { words: [] };
  const [program = '', second] = words;
  const isSubcommand = second !== undefined && /^[a-z][a-z0-9:_-]*$/i.test(second);
  return `${joinWords(isSubcommand ? [program, second] : [program])} *`;
}

function textsOf(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** What a person cannot see, they have not agreed to for ever; and a name with signs of patterns names more than one thing. */
function refuseOdd(paths: readonly string[], texts: readonly string[]): void {
  if ([...paths, ...texts].some((text) => makeVisible(text) !== text)) {
    throw new ConfigError('No rule was drafted: the call holds characters that nobody can see.');
  }
  const odd = paths.find((path) => exactPathPattern(path) !== path);
  if (odd !== undefined) throw new ConfigError(`No rule was drafted: no pattern names ${odd} alone.`);
}
