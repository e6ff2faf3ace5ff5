import { makeVisible } from '@sallyport/contract';
import type { InJson, InstalledTool as InstalledToolMessage, JsonObject } from '@sallyport/contract';
import type { AcceptedDefinitions } from '../accepted-definitions.ts';
import type { RedactText } from '../../call/redacted.ts';
import type { InstalledTool } from '../installed-tool.ts';
import { diffLines } from '../../text/diff-lines.ts';

export function describeInstalled(
  tool: InstalledTool,
  { isDefault, redact }: { readonly isDefault: boolean; readonly redact: RedactText },
): InJson<InstalledToolMessage> {
  const { definition, status, reason, offer, pin, isAccepted } = tool;
  const { name, version, description, risk, mutates } = definition;
  return {
    ...{ name, version, description, status, reason: redact(reason), stderr: redact(offer?.trouble?.stderr ?? '') },
    ...{ accepted: isAccepted, isDefault, risk, mutates },
    ...{ origin: offer?.origin ?? '', file: offer?.file ?? '', sha256: offer?.fileSha256 ?? '' },
    ...(pin && { acceptedBy: pin.acceptedBy, acceptedAtMs: String(pin.acceptedAtMs) }),
    ...{ definitionJson: '', difference: '' },
  };
}

/** The same, with what it says about itself and what is different in that. */
export function explainInstalled(
  tool: InstalledTool,
  accepted: Pick<AcceptedDefinitions, 'read'>,
  how: Parameters<typeof describeInstalled>[1],
): InJson<InstalledToolMessage> {
  const definitionJson = tool.offer === undefined ? '' : JSON.stringify(tool.offer.detail);
  return { ...describeInstalled(tool, how), definitionJson, difference: describeDifference(tool, accepted) };
}

/**
 * What is there now against what was accepted, as a unified diff of both descriptions; for a new tool, all of its
 * description. Empty: it is as it was accepted.
 */
export function describeDifference(
  { offer, pin, isAccepted }: InstalledTool,
  accepted: Pick<AcceptedDefinitions, 'read'>,
): string {
  if (offer === undefined || isAccepted) return '';
  const before = pin === undefined ? undefined : accepted.read(pin)?.detail;
  const unseen = pin !== undefined && before === undefined ? 'What was accepted before is no longer on record.\n' : '';
  return unseen + diffLines(before === undefined ? '' : print(before), print(offer.detail), 'description');
}

/** One line for each value, in the order of the names, so that only what differs shows. */
function print(detail: JsonObject): string {
  return `${makeVisible(JSON.stringify(sortKeys(detail), undefined, 2))}\n`;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortKeys(member)]));
}
