import { randomUUIDv7 } from 'node:crypto';
import { AnomalyDetector } from '../packages/gateway/src/anomalies/anomaly-detector.ts';
import type { CallFact } from '../packages/gateway/src/anomalies/call-fact.ts';
import { teamAnomalies } from '../packages/gateway/src/policy/language/read-anomalies.ts';
import type { ToolDefinition } from '../packages/gateway/src/call/tool.ts';
import type { Budget } from './measure.ts';

const agents = 10_000;
const tools = ['files.read', 'files.write', 'files.list', 'shell.run', 'files.delete'].map(
  (name) => ({ name, aliases: [], audience: 'everyone' }) as unknown as ToolDefinition,
);

/**
 * What looking at a call costs, after its answer, under the numbers for teams. Every agent has called before, every tenth
 * call failed, and some calls are to tools of a combination.
 */
export function anomalyTime(): Budget {
  let at = 0;
  const names = Array.from({ length: agents }, (_, number) => `agent-${number}`);
  const callId = randomUUIDv7();
  const nextFact = (): CallFact => {
    const definition = tools[(at * 7) % tools.length] as ToolDefinition;
    const failed = at % 10 === 0;
    const about = {
      agent: names[(at * 7919) % agents] ?? '',
      sessionId: 's',
      callId,
      tool: definition.name,
      definition,
    };
    return { ...about, failed, result: failed ? 'NOT_FOUND' : 'ok', atMs: at, steadyMs: at++ };
  };
  let detector: AnomalyDetector;
  return {
    name: 'looking for anomalies',
    bar: '≤ 20 µs of CPU a call with 10,000 agents',
    meets: (_ratio, { subject }) => subject <= 20,
    setUp: () => {
      detector = new AnomalyDetector(teamAnomalies, () => false);
      for (let count = 0; count < 30 * agents; count++) detector.look(nextFact());
      return Promise.resolve(() => Promise.resolve());
    },
    round: (seconds) => {
      const kept = new Map<string, CallFact>();
      const floor = costOf(seconds / 2, () => {
        const fact = nextFact();
        kept.set(fact.agent, fact);
      });
      const subject = costOf(seconds / 2, () => void detector.look(nextFact()));
      const unit = 'µs of CPU a call (floor: the fact, kept in a map)';
      return Promise.resolve({ floor, subject, unit, details: {} });
    },
  };
}

function costOf(seconds: number, run: () => void): number {
  const endsAt = performance.now() + seconds * 1000;
  const before = process.cpuUsage();
  let count = 0;
  while (performance.now() < endsAt) {
    for (let n = 0; n < 1000; n++) run();
    count += 1000;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
