import { ownText } from '../call/redacted.ts';
import type { Redacted } from '../call/redacted.ts';
import type { Resources } from '../call/tool.ts';
import { redactQuotes } from './quoted-secrets.ts';
import type { Redactor } from './redact.ts';

const secretInClaim = ownText('What the call asks for holds something that looks like a secret: ask without it.');

/**
 * What a refused caller is told to do, as it may be shown and kept. A rule that would let the call through spells what it
 * asks for in another way, in which no secret is recognised; so where the call asks for one, no rule is shown.
 */
export function redactRemedy(
  remedy: string | undefined,
  { resources, input }: { readonly resources?: Resources | undefined; readonly input?: string | undefined },
  redactor: Redactor,
): Redacted | undefined {
  if (remedy === undefined) return undefined;
  const isSpelled = claimedTexts(resources).some((text) => redactor.redactText(text) !== text);
  if (isSpelled) return secretInClaim;
  const shown = redactor.redactText(remedy);
  return redactQuotes(input, redactor)(remedy) === shown ? shown : secretInClaim;
}

function claimedTexts(resources: Resources | undefined): readonly string[] {
  const { paths = [], hosts = [], commands = [], apps = [] } = resources ?? {};
  return [...paths.map(({ path }) => path), ...hosts, ...commands, ...apps];
}
