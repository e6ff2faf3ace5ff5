import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { ConfigError } from '../model/fault.ts';
import type { Rules } from '../model/verdict.ts';
import { isWithin, withAlias } from './canonical-path.ts';
import { checkExamples } from './check-examples.ts';
import { compileRule } from './compile-rules.ts';
import type { RulesPlace } from './explain-denial.ts';
import type { PathVariables } from './place-path.ts';
import { protectPaths } from './protected-paths.ts';
import { defaultLimits, readLimits } from './read-limits.ts';
import { readRules } from './read-rules.ts';
import { readYaml } from './read-yaml.ts';
import type { YamlFile } from './read-yaml.ts';
import { createRuleJudge } from './rule-judge.ts';
import { ruleFileNames } from './rule.ts';
import type { Problem } from './rule.ts';
import { YamlReader } from './yaml-reader.ts';

export interface RulesSource {
  /** Holds tools.yaml and limits.yaml. An absent folder is an empty set of rules, under which nothing is allowed. */
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

/**
 * Reads, checks and compiles the rules. Blocks while it reads; files are small. Throws one ConfigError that lists every
 * problem of every file, so that nobody corrects them one start at a time.
 */
export function loadRules(source: RulesSource): Rules {
  const folder = resolve(source.folder);
  const [toolsFile, limitsFile] = ruleFileNames.map((name) => readYaml(join(folder, name))) as [YamlFile, YamlFile];
  const toolsReader = new YamlReader(toolsFile);
  const limitsReader = new YamlReader(limitsFile);
  const variables: PathVariables = {
    HOME: withAlias(resolve(source.userHome)),
    WORKSPACE: withAlias(resolve(source.workspace)),
  };

  const rules = toolsFile.root === undefined ? [] : readRules(toolsFile.root, toolsReader);
  const limits = limitsFile.root === undefined ? defaultLimits : readLimits(limitsFile.root, limitsReader);
  const compiled = rules.map((rule) => compileRule(rule));
  refuseProblems(folder, [
    ...sortProblems([
      ...toolsFile.problems,
      ...toolsReader.problems,
      ...compiled.flatMap((rule) => checkExamples(rule, variables)),
    ]),
    ...sortProblems([...limitsFile.problems, ...limitsReader.problems]),
  ]);

  const protectedPaths = protectPaths({ ...source, rulesFolder: folder });
  return {
    hash: hashFiles([toolsFile, limitsFile]),
    count: compiled.length,
    folder,
    limits,
    ...createRuleJudge({ rules: compiled, protectedPaths, variables, place: describePlace(folder, source) }),
  };
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

/** Names and lengths are part of it, so that no two different sets of files give the same bytes to hash. */
function hashFiles(files: readonly YamlFile[]): string {
  const hash = createHash('sha256');
  for (const [at, { bytes }] of files.entries()) {
    hash.update(`${ruleFileNames[at]} ${bytes === undefined ? 'absent' : bytes.length}\n`);
    if (bytes !== undefined) hash.update(bytes);
  }
  return hash.digest('hex');
}

/** The shipped rules lie in the program folder and are replaced by the next install: changes belong into a copy. */
function describePlace(folder: string, source: RulesSource): RulesPlace {
  const shipped = isWithin(resolve(source.programFolder), folder);
  const own = join(resolve(source.home), 'governance');
  const howToAdd = shipped
    ? `copy ${folder} to ${own} and add to its tools.yaml:`
    : `add to ${join(folder, 'tools.yaml')}:`;
  return { howToAdd, workspace: resolve(source.workspace) };
}
