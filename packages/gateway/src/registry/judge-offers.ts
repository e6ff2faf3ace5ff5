import type { ToolPin } from '../storage/stores.ts';
import type { AcceptedDefinitions } from './accepted-definitions.ts';
import type { SkippedFile } from './find-tool-files.ts';
import { describeMissing, judgeOffer } from './installed-tool.ts';
import type { InstalledTool } from './installed-tool.ts';
import { compareVersions } from './compare-versions.ts';
import { joinVersion } from './tool-name.ts';
import type { ToolOffer } from './tool-offer.ts';

export interface JudgedOffers {
  /** By name, older versions first. */
  readonly installed: readonly InstalledTool[];
  readonly rejected: readonly SkippedFile[];
}

/** Where every tool stands, from what lies there and what was accepted. */
export function judgeOffers(
  offers: readonly ToolOffer[],
  pins: readonly ToolPin[],
  accepted: Pick<AcceptedDefinitions, 'read'>,
): JudgedOffers {
  const pinned = new Map(pins.map((pin) => [joinVersion(pin.name, pin.version), pin]));
  const chosen = new Map<string, InstalledTool>();
  const rejected: SkippedFile[] = [];
  for (const offer of offers) {
    const { name, version } = offer.tool.definition;
    const judged = judgeOffer(offer, pinned.get(joinVersion(name, version)));
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

function byNameAndVersion({ definition: a }: InstalledTool, { definition: b }: InstalledTool): number {
  return a.name.localeCompare(b.name) || compareVersions(a.version, b.version);
}
