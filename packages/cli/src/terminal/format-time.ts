// By hand: the formatter of the language environment takes longer to load than the rest of a command.

/** `2026-03-01 14:05:09`, in the time zone of the person who reads. */
export function formatTime(timeMs: number): string {
  const time = new Date(timeMs);
  if (Number.isNaN(time.getTime())) return '-';
  const date = [time.getFullYear(), time.getMonth() + 1, time.getDate()].map(twoDigits).join('-');
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(':')}`;
}

/** `3 d 4 h`, `2 h 5 min`, `40 s`: the two largest units. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
