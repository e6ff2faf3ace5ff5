import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { programFolders } from './resolve-program.ts';

/** They change how things look, and nothing else. */
const harmless = new Set(
  'CI COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE CARGO_TERM_COLOR RUST_BACKTRACE TERM TZ LANG'.split(
    ' ',
  ),
);

/** They decide which code is loaded, so that a caller could make an allowed program run another. */
const neverFromCaller = /^(?:LD_.*|DYLD_.*|PATH|IFS|ENV|BASH_.*|SHELLOPTS|PS4|HOME|GIT_.*|SALLYPORT_.*)$/i;

/**
 * All variables of a program. The caller may set harmless ones, and those that the rules name for this tool; for these
 * the value in the rule is what counts when the caller gives none. Throws ToolRefused for any other.
 */
export function shellEnvironment(
  given: Readonly<Record<string, string>>,
  { grants, readSecrets }: Pick<ToolContext, 'grants' | 'readSecrets'>,
): Readonly<Record<string, string>> {
  for (const name of Object.keys(given)) {
    const named = Object.hasOwn(grants.environment, name);
    if (harmless.has(name) || (named && !neverFromCaller.test(name))) continue;
    throw new ToolRefused(
      refuse('RULE_DENIES', 'environment', `The caller may not set the variable ${JSON.stringify(name)}.`, {
        remedy: 'Leave it out.',
        forOperators: 'Leave it out, or name it under environment in the rule.',
      }),
    );
  }
  const own = { PATH: programFolders.join(':'), HOME: '/tmp', LANG: 'C.UTF-8' };
  return { ...own, ...grants.environment, ...given, ...readSecrets() };
}
