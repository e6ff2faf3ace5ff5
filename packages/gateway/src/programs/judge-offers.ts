import { compareNaturally } from '@sallyport/contract';
import type { ToolPin } from '../storage/stores.ts';
import type { AcceptedDefinitions } from './accepted-definitions.ts';
import type { SkippedFile } from './find-tool-files.ts';
import { describeBroken, describeMissing, judgeOffer } from './installed-tool.ts';
import type { InstalledTool } from './installed-tool.ts';
import { compareVersions } from '../registry/compare-versions.ts';
import { joinVersion } from '../registry/tool-name.ts';
import type { ToolOffer } from './tool-offer.ts';

export interface JudgedOffers {
  /** By name, older versions first. */
  readonly installed: readonly InstalledTool[];
  readonly rejected: readonly SkippedFile[];
}

/** The status of every tool, from the files in the folders and what was accepted. */
export function judgeOffers(
  offers: readonly ToolOffer[],
  pins: readonly ToolPin[],
  accepted: Pick<AcceptedDefinitions, 'read'>,
): JudgedOffers {
  const pinned = new Map(pins.map((pin) => [joinVersion(pin.name, pin.version), pin]));
  const chosen = new Map<string, InstalledTool>();
  const rejected: SkippedFile[] = [];
  const judge = (offer: ToolOffer): InstalledTool => {
    const { name, version } = offer.tool.definition;
    const described = offer.trouble === undefined ? undefined : findDescribed(offer, pins, accepted);
    return described === undefined
      ? judgeOffer(offer, pinned.get(joinVersion(name, version)))
      : describeBroken(offer, described.pin, described.description);
  };
  for (const offer of offers) {
    const judged = judge(offer);
    const other = chosen.get(judged.id);
    // Nobody takes the place of an accepted tool by taking its name.
    const isBetter = other === undefined || (judged.isAccepted && !other.isAccepted);
    const loser = isBetter ? other?.offer : offer;
    if (loser !== undefined) rejected.push({ file: loser.file, reason: `another file is ${judged.id} already` });
    if (isBetter) chosen.set(judged.id, judged);
  }
  for (const [id, pin] of pinned) {
    // What was accepted elsewhere, such as the tools of other servers, is not ours to miss.
    const known = chosen.has(id) ? undefined : accepted.read(pin);
    const description = known?.detail['description'];
    if (known !== undefined) {
      chosen.set(id, describeMissing(pin, known.origin, typeof description === 'string' ? description : ''));
    }
  }
  return { installed: [...chosen.values()].sort(byNameAndVersion), rejected };
}

/**
 * What the file was when it last described itself, if somebody accepted it then. A file that stops describing itself is
 * the same tool, broken; nobody would look for it under another name and version.
 */
function findDescribed(
  { file, origin, fileSha256, definitionSha256 }: ToolOffer,
  pins: readonly ToolPin[],
  accepted: Pick<AcceptedDefinitions, 'read'>,
): { readonly pin: ToolPin; readonly description: string } | undefined {
  // Accepted as it is now, without a description.
  const isAsNow = (pin: ToolPin): boolean => pin.fileSha256 === fileSha256 && pin.definitionSha256 === definitionSha256;
  if (pins.some(isAsNow)) return undefined;
  const found = pins
    .map((pin) => ({ pin, known: accepted.read(pin) }))
    .filter(({ known }) => known?.origin === origin && known.file === file)
    .sort((a, b) => b.pin.acceptedAtMs - a.pin.acceptedAtMs)[0];
  if (found === undefined) return undefined;
  const description = found.known?.detail['description'];
  return { pin: found.pin, description: typeof description === 'string' ? description : '' };
}

function byNameAndVersion({ definition: a }: InstalledTool, { definition: b }: InstalledTool): number {
  return compareNaturally(a.name, b.name) || compareVersions(a.version, b.version);
}
