import type { JsonObject } from '@sallyport/contract';
import type { AcceptedDefinitions } from '../accepted-definitions.ts';
import { makeVisible } from '@sallyport/contract';
import type { RedactText } from '../../call/redacted.ts';
import type { InstalledTool } from '../installed-tool.ts';
import { diffLines } from '../../text/diff-lines.ts';

export function describeInstalled(
  tool: InstalledTool,
  { isDefault, redact }: { readonly isDefault: boolean; readonly redact: RedactText },
): JsonObject {
  const { definition, status, reason, offer, pin, isAccepted } = tool;
  return {
    name: definition.name,
    version: definition.version,
    description: definition.description,
    status,
    ...(reason === '' ? {} : { reason: redact(reason) }),
    ...(offer?.trouble === undefined || offer.trouble.stderr === '' ? {} : { stderr: redact(offer.trouble.stderr) }),
    accepted: isAccepted,
    is_default: isDefault,
    risk: definition.risk,
    mutates: definition.mutates,
    ...(offer === undefined ? {} : { origin: offer.origin, file: offer.file, sha256: offer.fileSha256 }),
    ...(pin === undefined
      ? {}
      : { accepted_by: pin.acceptedBy, accepted_at: new Date(pin.acceptedAtMs).toISOString() }),
  };
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
