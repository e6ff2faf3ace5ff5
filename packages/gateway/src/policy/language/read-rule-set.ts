import type { Limits } from '../../call/verdict.ts';
import { defaultModePolicy } from '../judge/mode-policy.ts';
import type { ModePolicy } from '../judge/mode-policy.ts';
import { defaultLimits, readLimits } from './read-limits.ts';
import { readModes } from './read-modes.ts';
import { readRules } from './read-rules.ts';
import { noToolEntries } from './read-tool-entries.ts';
import type { ToolEntries } from './read-tool-entries.ts';
import { readYaml } from '../../text/read-yaml.ts';
import { noRoleEntries, readRoleEntries } from '../judge/role-book.ts';
import type { RoleEntries } from '../judge/role-book.ts';
import type { RuleFile } from '../files/rule-files.ts';
import type { ruleFileNames } from './rule.ts';
import type { Problem } from '../../text/source-file.ts';
import { YamlReader } from '../../text/yaml-reader.ts';
import type { YamlNode } from '../../text/yaml-node.ts';

/** What the files say. Plain data that follows from their bytes alone, so that it can be kept. */
export interface RuleSet extends ToolEntries {
  readonly limits: Limits;
  readonly modes: ModePolicy;
  readonly roles: RoleEntries;
}

/** A set, and what is wrong with the files; with a problem, the set is only good for finding more of them. */
export interface ReadRules {
  readonly set: RuleSet;
  /** Of each file, in the order in which they were found. */
  readonly problems: { readonly [Name in (typeof ruleFileNames)[number]]?: readonly Problem[] };
}

/** Never throws because of the content of a file. */
export function readRuleSet(files: readonly RuleFile[]): ReadRules {
  const problems: { [Name in RuleFile['name']]?: readonly Problem[] } = {};
  const read = <T>(name: RuleFile['name'], readRoot: (root: YamlNode, reader: YamlReader) => T, absent: T): T => {
    const file = files.find((each) => each.name === name);
    if (file === undefined) return absent;
    const yaml = readYaml(file);
    const reader = new YamlReader(yaml);
    const value = yaml.root === undefined ? absent : readRoot(yaml.root, reader);
    problems[name] = [...yaml.problems, ...reader.problems];
    return value;
  };
  const entries = read('tools.yaml', readRules, noToolEntries);
  const limits = read('limits.yaml', readLimits, defaultLimits);
  const modes = read('modes.yaml', readModes, defaultModePolicy);
  const roles = read('roles.yaml', readRoleEntries, noRoleEntries);
  return { set: { ...entries, limits, modes, roles }, problems };
}
