interface IndexSize {
  readonly indexedSize: string;
  readonly logSize: string;
}

/** How much of the log can be found and counted by now, from 0 to 1. */
export function indexedPart({ indexedSize, logSize }: IndexSize): number {
  return Number(logSize) === 0 ? 1 : Number(indexedSize) / Number(logSize);
}

/** The index is always a moment behind a log that grows. Less than this is worth saying. */
const nearlyAll = 0.95;

export function isBeingIndexed(part: number): boolean {
  return part < nearlyAll;
}
