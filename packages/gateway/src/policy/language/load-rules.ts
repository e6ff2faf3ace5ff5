import { hash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import type { Mode } from '../../call/session.ts';
import type { ToolDefinition } from '../../call/tool.ts';
import type { Question, Rules } from '../../call/verdict.ts';
import { loneWorkspace } from '../../call/workspace.ts';
import type { Workspace } from '../../call/workspace.ts';
import { withAlias } from '../patterns/canonical-path.ts';
import { isWithin } from '@sallyport/sandbox';
import { checkExamples } from './check-examples.ts';
import { checkGrants } from './check-grants.ts';
import { checkRules } from './check-rules.ts';
import type { Finding } from './check-rules.ts';
import { compileRule } from './compile-rules.ts';
import type { CompiledRule } from './compile-rules.ts';
import type { RulesPlace } from '../judge/explain-denial.ts';
import { createExplainer } from '../judge/explain-question.ts';
import type { Explained } from '../judge/explain-question.ts';
import { findShutOut } from '../guarantees/find-shut-out.ts';
import { isExit, keepExitOpen } from '../guarantees/keep-exit-open.ts';
import { mayOpen } from '../judge/may-open.ts';
import type { ModePolicy } from '../judge/mode-policy.ts';
import { operatorRights } from '../guarantees/operator-rights.ts';
import type { PathVariables } from '../judge/place-path.ts';
import { protectPaths } from '../judge/protected-paths.ts';
import { readRuleSet } from './read-rule-set.ts';
import type { ReadRules } from './read-rule-set.ts';
import { createRoleBook } from '../judge/role-book.ts';
import type { RoleBook } from '../judge/role-book.ts';
import { hashRuleFiles, readRuleFiles } from '../files/rule-files.ts';
import type { Asked } from '../judge/rule-index.ts';
import { indexRules } from '../judge/rule-index.ts';
import { createRuleJudge } from '../judge/rule-judge.ts';
import type { RuleJudge } from '../judge/rule-judge.ts';
import { onlyPath, VerdictMemory } from '../judge/verdict-memory.ts';
import { explainForeignPaths } from '../judge/foreign-paths.ts';
import { ruleFileNames } from './rule.ts';
import type { Rule } from './rule.ts';
import type { Problem } from '../../text/source-file.ts';
import { tryRules } from './try-rules.ts';

export interface RulesSource {
  /** Holds the rule files. An absent folder is an empty set of rules, under which nothing is allowed. */
  readonly folder: string;
  /** $SALLYPORT_HOME. */
  readonly home: string;
  /** What $WORKSPACE stands for; see resolveWorkspace. */
  readonly workspace: string;
  /** What $HOME stands for. */
  readonly userHome: string;
  readonly programFolder: string;
  /** Says where agent clients moved their configuration. Absent: this process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A workspace with the rules that its project adds. They only deny and ask. Absent: none. */
export interface ProjectWorkspace extends Workspace {
  readonly projectRules?: readonly Rule[];
}

/** Rules with what people and other parts of the gate ask about them, besides decisions. */
export interface LoadedRules extends Rules {
  readonly modes: ModePolicy;
  readonly membershipOf: RoleBook['membershipOf'];
  /** Whether any of them asks what time it is. */
  readonly looksAtTime: boolean;
  /** Whether a rule opens the tool in this mode by naming the mode. */
  readonly opensByName: (tool: ToolDefinition, mode: Mode) => boolean;
  /** Whether some call of the tool could be let through. */
  readonly mayOpen: (asked: Asked) => boolean;
  /** The verdict on a call, and what each rule has to do with it. */
  readonly explain: (question: Question) => Explained;
  /** In the order of the files, shadow rules included. */
  readonly all: readonly Pick<CompiledRule, 'rule' | 'reference'>[];
  /** The shadow rules, in the order of the file. */
  readonly tried: readonly Pick<CompiledRule, 'rule' | 'reference'>[];
  /** What is probably not meant, given the tools that there are. */
  readonly check: (tools: readonly ToolDefinition[]) => readonly Finding[];
  /** The same rules where a session works elsewhere, with the rules of the project there. Cheap when asked again. */
  readonly within: (workspace: ProjectWorkspace) => LoadedRules;
  /** Throws ConfigError when nobody could put other rules in force once these are. */
  readonly refuseShutOut: () => void;
}

/**
 * Reads, checks and compiles the rules, or other bytes in place of the files; `read` is what they say, if that is known.
 * Blocks; files are small. Throws one ConfigError that lists every problem of every file, so that nobody corrects them
 * one start at a time.
 */
export function loadRules(
  source: RulesSource,
  files = readRuleFiles(resolve(source.folder)),
  read: ReadRules = readRuleSet(files),
): LoadedRules {
  const folder = resolve(source.folder);
  const own = loneWorkspace(resolve(source.workspace));
  const variables: PathVariables = {
    HOME: withAlias(resolve(source.userHome)),
    WORKSPACE: withAlias(own.folder),
  };
  const { rules, rates, categories, limits, modes, roles } = read.set;
  const { membershipOf, gate } = createRoleBook(roles);
  const compiled = rules.map((rule) => compileRule(rule));
  const protectedPaths = protectPaths({ ...source, rulesFolder: folder });
  // What depends on this machine is looked at each time, also when it is known what the files say.
  const found = [
    ...compiled.flatMap((rule) => checkExamples(rule, variables)),
    ...rules.flatMap((rule) => checkGrants(rule, variables, protectedPaths)),
  ];
  refuseProblems(
    folder,
    ruleFileNames.flatMap((name) => {
      const noted = read.problems[name] ?? [];
      return sortProblems(name === 'tools.yaml' ? [...noted, ...found] : noted);
    }),
  );

  const filesHash = hashRuleFiles(files);
  const all = [...compiled, gate, ...operatorRights];
  const inForce = all.filter(({ rule }) => !rule.shadow);
  const ruleIds = new Set(all.map(({ reference }) => reference.id));
  const isTrying = inForce.length < all.length;
  const indexed = { inForce: indexRules(inForce), all: isTrying ? indexRules(all) : undefined };
  /** What the organisation does not say about a caller, roles.yaml says. */
  const withStanding = <T extends Asked>(asked: T): T => {
    if (asked.roles !== undefined && asked.teams !== undefined) return asked;
    const known = membershipOf(asked.agent, asked.profile);
    return { ...asked, roles: asked.roles ?? known.roles, teams: asked.teams ?? known.teams };
  };

  /** What depends on where a session works. Sorting out the rules does not, unless the project has some of its own. */
  function apply(workspace: ProjectWorkspace): Applied {
    const { folder: place, projectRules = [] } = workspace;
    const local = place === own.folder ? variables : { ...variables, WORKSPACE: [place] };
    const explainForeign = explainForeignPaths(workspace);
    const added = projectRules.map((rule) => ({ ...compileRule(rule), opens: false }));
    const judgeBy = (chosen: readonly CompiledRule[], index: ReturnType<typeof indexRules> | undefined): RuleJudge =>
      createRuleJudge(
        {
          rules: [...chosen, ...added],
          protectedPaths,
          variables: local,
          place: { ...describePlace(folder, source, place), ruleIds },
          ...(explainForeign && { explainForeign }),
        },
        added.length === 0 ? index : undefined,
      );
    const { judge, judgePaths } = judgeBy(inForce, indexed.inForce);
    const decide = keepExitOpen(isTrying ? tryRules(judge, judgeBy(all, indexed.all).judge) : judge);
    const explain = createExplainer({ rules: [...all, ...added], variables: local, judge: decide });
    const opening = [...inForce, ...added];
    const verdicts = new VerdictMemory([...all, ...added]);
    const opened = new VerdictMemory(opening);
    return {
      workspace,
      hash: workspace.rulesSha256 === undefined ? filesHash : hash('sha256', `${filesHash} ${workspace.rulesSha256}`),
      looksAtHistory: [...all, ...added].some(({ rule }) => rule.after !== undefined),
      looksAtTime: [...all, ...added].some(({ rule }) => rule.hours !== undefined || rule.days !== undefined),
      judge: (question) =>
        verdicts.recall(question, onlyPath(question.resources), () => decide(withStanding(question))),
      judgePaths: (question) => judgePaths(question, { memory: opened, complete: withStanding }),
      mayOpen: (asked) => isExit(asked) || mayOpen(opening, withStanding(asked)),
      explain: (question) => explain(withStanding(question)),
    };
  }

  // A workspace that nobody works in any more is forgotten with its object.
  const elsewhere = new WeakMap<ProjectWorkspace, LoadedRules>();
  const within = (workspace: ProjectWorkspace): LoadedRules => {
    const known = elsewhere.get(workspace) ?? { ...loaded, ...apply(workspace) };
    elsewhere.set(workspace, known);
    return known;
  };
  const loaded: LoadedRules = {
    count: compiled.length,
    folder,
    limits: {
      ...limits,
      rates: [...rates, ...limits.rates],
      teamRates: [...rates, ...limits.teamRates],
    },
    modes,
    membershipOf,
    rolesOf: (agent, profile) => membershipOf(agent, profile).roles,
    acceptsNew: (name, origin) => acceptsNew(inForce, name, origin),
    opensByName: (tool, mode) => opensByName(inForce, tool, mode),
    all: compiled,
    tried: compiled.filter(({ rule }) => rule.shadow),
    check: (tools) => checkRules(compiled, operatorRights, tools, categories),
    refuseShutOut: () => refuseProblems(folder, findShutOut(inForce)),
    within,
    ...apply(own),
  };
  return loaded;
}

/** What the rules say in one workspace. */
type Applied = Pick<
  LoadedRules,
  'workspace' | 'hash' | 'looksAtHistory' | 'looksAtTime' | 'judge' | 'judgePaths' | 'mayOpen' | 'explain'
>;

function acceptsNew(rules: readonly CompiledRule[], name: string, origin: ToolDefinition['origin']): boolean {
  const tool = { name, aliases: [], category: '', ...(origin === undefined ? {} : { origin }) };
  return rules.some(({ rule, coversTool }) => rule.acceptsNew && coversTool(tool));
}

function opensByName(rules: readonly CompiledRule[], tool: ToolDefinition, mode: Mode): boolean {
  return rules.some(({ rule, coversTool }) => {
    return rule.effect !== 'deny' && rule.modes?.includes(mode) === true && coversTool(tool);
  });
}

const maxProblemsShown = 50;

function refuseProblems(folder: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const shown = problems
    .slice(0, maxProblemsShown)
    .map(({ file, line, column, message }) => `${file}:${line}:${column}  ${message}`);
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`);
  throw new ConfigError(
    [`The rules in ${folder} cannot be used.`, ...shown].join('\n'),
    'Correct the lines above. Nothing was loaded.',
  );
}

/** The problems of one file from top to bottom. Of several about one place the first noted is the cause. */
function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const distinct = new Map<string, Problem>();
  for (const problem of problems) {
    const place = `${problem.line}:${problem.column}`;
    if (!distinct.has(place)) distinct.set(place, problem);
  }
  return [...distinct.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** The shipped rules are in the program folder and are replaced by the next install: changes belong in a copy. */
function describePlace(folder: string, source: RulesSource, workspace: string): Omit<RulesPlace, 'ruleIds'> {
  const shipped = isWithin(resolve(source.programFolder), folder);
  const own = join(resolve(source.home), 'governance');
  const howToAdd = shipped
    ? `run \`sallyport policy init\`, add this to ${join(own, 'tools.yaml')}, and run \`sallyport policy apply\`:`
    : `add this to ${join(folder, 'tools.yaml')}, and run \`sallyport policy apply\`:`;
  return { howToAdd, workspace };
}
