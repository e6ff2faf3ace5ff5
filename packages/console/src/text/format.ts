const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** `14:03:07` today, with the date before. */
export function formatTime(timeMs: number, nowMs: number): string {
  const time = new Date(timeMs);
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(':');
  return time.toDateString() === new Date(nowMs).toDateString() ? clock : `${formatDate(time)} ${clock}`;
}

const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const sixDaysMs = 6 * 86_400_000;

/** `14:03:07` today, `Tue 14:03` in the last days, the date before that. */
export function formatShortTime(timeMs: number, nowMs: number): string {
  const time = new Date(timeMs);
  if (time.toDateString() === new Date(nowMs).toDateString()) return formatTime(timeMs, nowMs);
  return nowMs - timeMs < sixDaysMs ? `${dayNames[time.getDay()]} ${formatClock(timeMs)}` : formatDate(time);
}

/** `just now`, `4 min ago`, `3 h ago`, `5 days ago`. */
export function formatAgo(timeMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - timeMs) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

/** `14:03` */
export function formatClock(timeMs: number): string {
  const time = new Date(timeMs);
  return [time.getHours(), time.getMinutes()].map(twoDigits).join(':');
}

/** Always with the date. */
export function formatMoment(timeMs: number): string {
  const time = new Date(timeMs);
  return `${formatDate(time)} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(':')}`;
}

function formatDate(time: Date): string {
  return [time.getFullYear(), time.getMonth() + 1, time.getDate()].map(twoDigits).join('-');
}

/** `820 ms`, `3.2 s`, `4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}

/** As exactly as it can be told apart: `412 µs`, `1.8 ms`, `112 ms`, `3.2 s`. */
export function formatExact(ms: number): string {
  if (ms === 0) return '0';
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1000))} µs`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : formatDuration(ms);
}

/** What is left until then, as on a kitchen timer: `4:59`, or `2 h 5 min`. */
export function formatLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${twoDigits(seconds % 60)}`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** What cannot be read as JSON, because something in it is masked or cut, stays the text that it is. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** On lines of its own, as far as it is JSON. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
