import { readFileSync } from 'node:fs';
import { attempt } from '@sallyport/contract';
import { isWithin } from '@sallyport/sandbox';

/** A part of a file system, and where it can be seen. */
interface Region {
  readonly id: string;
  readonly device: string;
  /** Where it is in its file system. */
  readonly source: string;
  readonly at: string;
}

/**
 * Whether the same files can be seen in more than one place of these folders, because somebody has mounted a part of them
 * once more. Absolute paths without links. `mounts`: as Linux tells it.
 */
export function hasOverlappingMounts(folders: readonly string[], mounts = readMounts()): boolean {
  const points = parseMounts(mounts);
  const regions = folders.flatMap((folder) => [
    ...regionOf(folder, points),
    ...points.filter(({ at }) => at !== folder && isWithin(folder, at)),
  ]);
  return regions.some((one, index) => regions.slice(index + 1).some((other) => isSeenTwice(one, other)));
}

function regionOf(folder: string, points: readonly Region[]): readonly Region[] {
  // A later mount at the same place hides the earlier one.
  const [point] = points
    .filter(({ at }) => isWithin(at, folder))
    .toReversed()
    .toSorted((one, other) => other.at.length - one.at.length);
  if (point === undefined) return [];
  const below = folder.slice(point.at === '/' ? 0 : point.at.length);
  return [{ ...point, at: folder, source: join(point.source, below) }];
}

/** A folder inside another of the same mount is the same place, not a second one. */
function isSeenTwice(one: Region, other: Region): boolean {
  if (one.device !== other.device || (one.id === other.id && areNested(one.at, other.at))) return false;
  return areNested(one.source, other.source);
}

function areNested(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function join(source: string, below: string): string {
  return source === '/' ? below || '/' : source + below;
}

function parseMounts(text: string): readonly Region[] {
  return text.split('\n').flatMap((line) => {
    const [id, , device, source, at] = line.split(' ');
    if (id === undefined || device === undefined || source === undefined || at === undefined) return [];
    return [{ id, device, source: unescape(source), at: unescape(at) }];
  });
}

/** Spaces and the like stand as octal numbers. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

/** Where nobody tells, there is nothing to compare. */
function readMounts(): string {
  return attempt(() => readFileSync('/proc/self/mountinfo', 'utf8')) ?? '';
}
