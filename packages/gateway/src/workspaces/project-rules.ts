import { hash } from 'node:crypto';
import { join } from 'node:path';
import { ConfigError } from '../call/fault.ts';
import { resolveLinks } from '../policy/patterns/canonical-path.ts';
import { readProjectRules } from '../policy/language/read-project-rules.ts';
import type { Rule } from '../policy/language/rule.ts';
import type { AcceptedProjectRules } from '../storage/stores.ts';
import { readSourceFile } from '../text/source-file.ts';

/** Where a project keeps rules of its own. */
export function projectRulesFile(root: string): string {
  return join(root, '.sallyport', 'rules.yaml');
}

/** The file as it is now. Absent bytes: there is no file. Never throws. */
export function readProjectFile(root: string): { readonly bytes?: Uint8Array; readonly problem?: string } {
  const file = projectRulesFile(root);
  // The authors of a project may have put a link there that leads to somebody else's file.
  if (resolveLinks(file) !== file) return { problem: 'is a link, or lies behind one' };
  const { bytes, problem } = readSourceFile(file);
  return { ...(bytes && { bytes }), ...(problem === undefined ? {} : { problem }) };
}

export function hashProjectRules(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

/** Throws ConfigError for bytes that are no rules, or rules that would open something. */
export function parseProjectRules(root: string, bytes: Uint8Array, userHome: string): readonly Rule[] {
  return readProjectRules(projectRulesFile(root), bytes, { HOME: [userHome], WORKSPACE: [root] });
}

/** What holds in a project. Rules that an operator accepted and that cannot be read any more close it. */
export function rulesInForce(root: string, { bytes }: AcceptedProjectRules, userHome: string): readonly Rule[] {
  try {
    return parseProjectRules(root, bytes, userHome);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [closingRule(root)];
  }
}

function closingRule(root: string): Rule {
  return {
    id: 'project-rules-unreadable',
    effect: 'deny',
    tools: ['*'],
    who: ['agent'],
    approvalWaived: false,
    acceptsNew: false,
    shadow: false,
    reason: 'The accepted rules of this project cannot be read by this version.',
    remedy: 'Ask the operator to accept the rules of the project again.',
    examples: [],
    file: projectRulesFile(root),
    line: 1,
  };
}

/**
 * `none`: the project has no rules. `waiting`: it has some that nobody accepted. `in-force`: as accepted. `changed`, `gone`
 * and `unreadable`: the file is not what was accepted, and the accepted rules stay in force.
 */
export type ProjectRulesState = 'none' | 'waiting' | 'in-force' | 'changed' | 'gone' | 'unreadable';

export function inspectProjectRules(root: string, accepted: AcceptedProjectRules | undefined): ProjectRulesState {
  const { bytes, problem } = readProjectFile(root);
  if (problem !== undefined) return 'unreadable';
  if (accepted === undefined) return bytes === undefined ? 'none' : 'waiting';
  if (bytes === undefined) return 'gone';
  return Buffer.compare(bytes, accepted.bytes) === 0 ? 'in-force' : 'changed';
}
