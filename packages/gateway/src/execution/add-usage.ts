import type { ToolUsage } from '../call/tool.ts';

/** Far above anything real, and sums of it still fit into a column. */
const largestMeasure = 2 ** 50;

export function addUsage(a: ToolUsage, b: ToolUsage): ToolUsage {
  const sum: { -readonly [Key in keyof ToolUsage]: ToolUsage[Key] } = { ...a };
  for (const key of ['cpuMs', 'networkConnections', 'bytesRead', 'bytesWritten', 'tokens', 'costMicros'] as const) {
    // In whole microseconds, which a sum of numbers would not be.
    if (isMeasure(b[key])) sum[key] = round((sum[key] ?? 0) + b[key], key === 'cpuMs' ? 1000 : 1);
  }
  if (isMeasure(b.peakMemoryBytes))
    sum.peakMemoryBytes = Math.max(sum.peakMemoryBytes ?? 0, Math.round(b.peakMemoryBytes));
  if (b.measuredBy !== undefined) sum.measuredBy = b.measuredBy;
  return sum;
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}

/** What is no number, or beyond counting, could neither be recorded nor answered. */
function isMeasure(value: number | undefined): value is number {
  return value !== undefined && value >= 0 && value <= largestMeasure;
}
