import { dropUndefined } from '@sallyport/contract';
import { isCanonicalPath } from '../patterns/canonical-path.ts';
import { printable } from '../../text/printable.ts';
import { createPathClaimer, readClaims } from '../judge/claims.ts';
import { circumstancesOf } from './circumstance-keys.ts';
import type { CompiledRule } from './compile-rules.ts';
import { findMismatch, kindNames } from '../judge/find-mismatch.ts';
import type { Facts } from '../judge/find-mismatch.ts';
import { expandPath } from '../judge/place-path.ts';
import type { PathVariables } from '../judge/place-path.ts';
import { accesses } from './rule.ts';
import type { Example } from './rule.ts';
import type { Problem } from '../../text/source-file.ts';

/** Runs the examples of one rule against that rule alone. Returns those that do not come out as written. */
export function checkExamples(compiled: CompiledRule, variables: PathVariables): readonly Problem[] {
  const { id, file, examples } = compiled.rule;
  return examples.flatMap((example) => {
    const why = findFailure(example, compiled, variables);
    return why === undefined ? [] : [{ file, ...example.position, message: `example of rule ${id}: ${why}` }];
  });
}

function findFailure(example: Example, compiled: CompiledRule, variables: PathVariables): string | undefined {
  const path = example.path === undefined ? undefined : expandPath(example.path, variables);
  if (path !== undefined && !isCanonicalPath(path)) {
    return 'the path must be absolute, or start with $HOME or $WORKSPACE, and be written plainly';
  }
  const claims = claimsOf(example, path, variables);
  if ('text' in claims) return `${printable(claims.text)} is not the plain spelling of a ${kindNames[claims.kind]}`;
  const mismatch = findMismatch(compiled, factsOf(example), claims, { unknown: 'fits' });
  if (example.expected === 'match') {
    return mismatch === undefined ? undefined : `it must match, but ${mismatch}`;
  }
  return mismatch === undefined ? 'it must not match, but it does' : undefined;
}

/** The things of the example. A path without access stands here once for each. */
function claimsOf(example: Example, path: string | undefined, variables: PathVariables): ReturnType<typeof readClaims> {
  const { command, host, app, gitOperation, provider, model, access } = example;
  const tried = access === undefined ? accesses : [access];
  return readClaims(
    {
      paths: path === undefined ? [] : tried.map((each) => ({ path, access: each })),
      ...(command === undefined ? {} : { commands: [command] }),
      ...(host === undefined ? {} : { hosts: [host] }),
      ...(app === undefined ? {} : { apps: [app] }),
      ...dropUndefined({ gitOperation, provider, model }),
    },
    createPathClaimer(variables),
  );
}

/** What the example leaves open is absent, and may be anything. */
function factsOf(example: Example): Facts {
  const { tool: name, origin, who, mode } = example;
  return {
    tool: { name, aliases: [], category: '', ...(origin === undefined || origin === 'builtin' ? {} : { origin }) },
    ...(origin === undefined ? { anyOrigin: true } : {}),
    ...dropUndefined({ principal: who, mode }),
    ...circumstancesOf(example),
  };
}
