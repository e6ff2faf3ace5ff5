import type { RuleReference } from '../../call/refusal.ts';
import type { Question, Verdict } from '../../call/verdict.ts';
import { createPathClaimer, reachesUnnamed, readClaims } from './claims.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import { findMismatch } from './find-mismatch.ts';
import type { PathVariables } from './place-path.ts';
import type { Rule } from '../language/rule.ts';

/** A verdict with every rule that was there, in the order of the file. */
export interface Explained {
  readonly verdict: Verdict;
  readonly considered: readonly ConsideredRule[];
}

export interface ConsideredRule {
  readonly rule: RuleReference;
  readonly effect: Rule['effect'];
  /** Whether it is about the tool of the call. */
  readonly namesTool: boolean;
  /** Only tried out. */
  readonly shadow: boolean;
  /** Why it does not match, as the end of a sentence. Absent: it matches the call, or a part of it. */
  readonly mismatch?: string;
  /** The verdict names it. */
  readonly decides: boolean;
}

export interface ExplainParts {
  readonly rules: readonly CompiledRule[];
  readonly variables: PathVariables;
  readonly judge: (question: Question) => Verdict;
}

/** Asks the judge, and each rule by itself. */
export function createExplainer({ rules, variables, judge }: ExplainParts): (question: Question) => Explained {
  const claimPath = createPathClaimer(variables);
  return (question) => {
    const verdict = judge(question);
    const claims = readClaims(question.resources, claimPath);
    // What is built in says something only where it is about the tool.
    const shown = rules.filter(
      ({ reference, coversTool }) => reference.file !== undefined || coversTool(question.tool),
    );
    const considered = shown.map((compiled) => {
      const mismatch =
        'text' in claims
          ? 'the call names something that no rule can be compared with'
          : findMismatch(compiled, question, claims, {
              unknown: 'by-effect',
              reachesUnnamed: (kind) => reachesUnnamed(question.tool, kind),
            });
      return {
        rule: compiled.reference,
        effect: compiled.rule.effect,
        namesTool: compiled.coversTool(question.tool),
        shadow: compiled.rule.shadow,
        ...(mismatch === undefined ? {} : { mismatch }),
        decides: verdict.rule.id === compiled.rule.id && verdict.rule.file === compiled.reference.file,
      };
    });
    // What is built in says something only where it matches.
    return {
      verdict,
      considered: considered.filter(({ rule, mismatch }) => rule.file !== undefined || mismatch === undefined),
    };
  };
}
