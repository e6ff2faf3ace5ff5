import type { AnyTool } from '../../call/tool.ts';
import { systemLogs } from './system-logs.ts';
import { systemMetrics } from './system-metrics.ts';
import { systemProcessHealth } from './system-process-health.ts';

/** What the machine itself can tell. None of these tools changes anything. */
export function systemTools(): readonly AnyTool[] {
  return [systemMetrics(), systemProcessHealth(), systemLogs()];
}
