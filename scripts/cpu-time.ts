import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/**
 * Processor time of this process and, on Linux, of all children that have ended and their children. Other programs on
 * the machine do not count, which makes it a better measure than time where the machine is busy.
 */
export function readCpuMs(): number {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name of the program comes before, in brackets, and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1000) / ticksPerSecond;
}
