import type { Risk } from '../call/tool.ts';

/** How soon somebody should look: the more a call can do, the less it should wait for an answer without thought. */
const priorities = { low: 'low', medium: 'normal', high: 'high', critical: 'critical' } as const;

export function priorityOf(risk: Risk): string {
  return priorities[risk];
}
