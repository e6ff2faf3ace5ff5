const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** A size as people say it: `512 bytes`, `1.5 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const amount = power === 0 ? String(bytes) : (bytes / 1000 ** power).toFixed(1);
  return `${amount} ${bytes === 1 ? 'byte' : units[power]}`;
}
