export const levels = ['debug', 'info', 'warning', 'error', 'fatal'] as const;
export type Level = (typeof levels)[number];

const names: Readonly<Record<string, Level>> = {
  ...{ trace: 'debug', debug: 'debug', verbose: 'debug', info: 'info', information: 'info', notice: 'info' },
  ...{ warn: 'warning', warning: 'warning', error: 'error', err: 'error', severe: 'error', exception: 'error' },
  ...{ fatal: 'fatal', critical: 'fatal', crit: 'fatal', panic: 'fatal', emergency: 'fatal', alert: 'fatal' },
};
/** As pino and bunyan count. */
const numbers: readonly (readonly [number, Level])[] = [
  [60, 'fatal'],
  [50, 'error'],
  [40, 'warning'],
  [30, 'info'],
  [0, 'debug'],
];
/** Levels stand near the beginning of a line. */
const looked = 200;

/** The level that a line of a log names: in JSON under a usual key, else as a word near its beginning. */
export function readLevel(line: string): Level | undefined {
  const head = line.slice(0, looked);
  const [, word, number] =
    /"(?:level|severity|lvl|levelname)"\s*:\s*(?:"(\w{3,12})"|(\d{1,2}))/i.exec(line.slice(0, 2000)) ?? [];
  if (number !== undefined) return numbers.find(([least]) => Number(number) >= least)?.[1];
  const named =
    word ?? /\b(TRACE|DEBUG|VERBOSE|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|FATAL|CRITICAL|PANIC)\b/.exec(head)?.[1];
  const inBrackets = /[[<(](trace|debug|info|notice|warn|warning|error|err|crit|critical|fatal)[\]>)]/i.exec(head)?.[1];
  return names[(named ?? inBrackets ?? '').toLowerCase()];
}
