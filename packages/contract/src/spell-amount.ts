const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;
const binaryUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A number of things: `1 rule`, `3 rules`. `plural` is for nouns that need more than an s. */
export function spellCount(count: number | bigint, noun: string, plural = `${noun}s`): string {
  return `${count} ${Number(count) === 1 ? noun : plural}`;
}

/** A size as people say it: `512 bytes`, `1.5 MB`; `4 GiB` where that is exact, as limits are. */
export function spellBytes(bytes: number | bigint): string {
  const count = Number(bytes);
  const binary = largestDivisor(count);
  if (binary > 0) return `${count / 1024 ** binary} ${binaryUnits[binary]}`;
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1);
  if (power === 0) return spellCount(count, 'byte');
  return `${(count / 1000 ** power).toFixed(1)} ${units[power]}`;
}

/** The first size in a text, as `spellBytes` wrote it. Undefined: the text names no size. */
export function findBytes(text: string): number | undefined {
  const [, amount = '', unit = ''] = /(\d+(?:\.\d)?) (bytes?|[KMGT]i?B)/.exec(text) ?? [];
  if (amount === '') return undefined;
  const power = ['b', 'K', 'M', 'G', 'T'].indexOf(unit.charAt(0));
  return Math.round(Number(amount) * (unit.includes('i') ? 1024 : 1000) ** power);
}

/** The largest power of 1024 that the size is a small multiple of. */
function largestDivisor(count: number): number {
  for (let power = binaryUnits.length - 1; power > 0; power--) {
    const times = count / 1024 ** power;
    if (Number.isInteger(times) && times > 0 && times <= 1024) return power;
  }
  return 0;
}
