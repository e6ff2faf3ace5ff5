import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hash, randomUUIDv7 } from 'node:crypto';
import { loadRules } from '../packages/gateway/src/policy/language/load-rules.ts';
import { LoopMemory } from '../packages/gateway/src/policy/judge/loop-memory.ts';
import type { Begun } from '../packages/gateway/src/call/call.ts';
import { defaultSettings } from '../packages/gateway/src/call/organisation.ts';
import type { Organisation } from '../packages/gateway/src/call/organisation.ts';
import type { Session } from '../packages/gateway/src/call/session.ts';
import { KeyedLock } from '../packages/gateway/src/call/keyed-lock.ts';
import { StageLine } from '../packages/gateway/src/call/stage-line.ts';
import { Redactor } from '../packages/gateway/src/redaction/redact.ts';
import { Registry } from '../packages/gateway/src/registry/registry.ts';
import { breakLoop } from '../packages/gateway/src/stages/break-loop.ts';
import { checkArguments } from '../packages/gateway/src/stages/check-arguments.ts';
import { checkLease } from '../packages/gateway/src/stages/check-lease.ts';
import { checkLimits } from '../packages/gateway/src/stages/check-limits.ts';
import { checkMode } from '../packages/gateway/src/stages/check-mode.ts';
import { checkPermission } from '../packages/gateway/src/stages/check-permission.ts';
import { decodeCall } from '../packages/gateway/src/stages/decode-call.ts';
import { judgeCall } from '../packages/gateway/src/stages/judge-call.ts';
import { openSession } from '../packages/gateway/src/stages/open-session.ts';
import { readArguments } from '../packages/gateway/src/stages/read-arguments.ts';
import { resolveTool } from '../packages/gateway/src/stages/resolve-tool.ts';
import { reuseResult } from '../packages/gateway/src/stages/reuse-result.ts';
import { fileTools } from '../packages/gateway/src/catalogue/files/index.ts';
import { newPlace } from '../test/harness/daemon.ts';
import type { Budget } from './measure.ts';

/** What the gates cost by themselves, without wire, disk or tool: all decisions of a call that is allowed. */
export function gatesTime(): Budget {
  let decide: () => Promise<void>;
  return {
    name: "the gates' own time",
    bar: '≤ 60 µs of main thread for a whole call; the gates are a part of it',
    meets: (_ratio, { subject }) => subject <= 60,
    setUp: () => {
      const place = newPlace();
      decide = prepareDecision(place);
      return Promise.resolve(() => Promise.resolve(rmSync(place.folder, { recursive: true })));
    },
    round: async (seconds) => {
      const floor = await costOf(parseOnly, seconds / 2);
      const subject = await costOf(decide, seconds / 2);
      const unit = 'µs of CPU a call (floor: JSON.parse and one SHA-256)';
      return { floor, subject, unit, details: {} };
    },
  };
}

const nothingSpent = { calls: 0, activeMs: 0, tokens: 0, costMicros: 0 };
const input = '{"path":"src/kilobyte.txt"}';

function parseOnly(): Promise<void> {
  hash('sha256', JSON.stringify(JSON.parse(input)));
  return Promise.resolve();
}

function prepareDecision({
  folder,
  home,
  workspace,
}: {
  folder: string;
  home: string;
  workspace: string;
}): () => Promise<void> {
  mkdirSync(join(workspace, 'src'));
  const programFolder = join(import.meta.dirname, '..');
  const rulesFolder = join(programFolder, 'config/governance');
  const rules = loadRules({ folder: rulesFolder, home, workspace, userHome: folder, programFolder });
  const session: Session = {
    id: randomUUIDv7(),
    principal: 'agent',
    agent: 'bench',
    status: 'active',
    createdAtMs: 0,
    workingDirectory: workspace,
    lease: { id: randomUUIDv7(), tools: ['*'], grantedAtMs: 0, budget: {}, spent: nothingSpent },
    budget: {},
    spent: nothingSpent,
  };
  const registry = new Registry();
  for (const tool of fileTools()) registry.register(tool);
  const store = {
    findSessionByToken: () => session,
    findSession: () => session,
    version: () => 0,
    readSession: () => Promise.resolve(session),
    readMode: () => 'NORMAL' as const,
    findDedupe: () => Promise.resolve(undefined),
    usedOf: () => Promise.resolve({ used: 0, resetsInMs: 0 }),
  };
  const organisation: Organisation = { settings: defaultSettings, teams: [], members: [], permissions: [] };
  const gates = StageLine.from<Begun>(() => undefined)
    .stage(decodeCall(new Redactor()))
    .stage(openSession(store))
    .stage(readArguments({ maxArgumentBytes: () => rules.limits.maxArgumentBytes }))
    .stage(resolveTool(registry))
    .stage(checkArguments(registry))
    .stage(checkLease)
    .stage(checkPermission(() => organisation))
    .stage(checkMode(store))
    .stage(
      judgeCall(
        () => rules,
        { of: () => Promise.resolve([]) },
        (error) => {
          throw error;
        },
      ),
    )
    .stage(breakLoop(new LoopMemory()))
    .stage(reuseResult(store, new KeyedLock(), { open: () => undefined }))
    .stage(checkLimits(store, { isLow: () => false }));
  const { signal } = new AbortController();
  const call: Omit<Begun, 'callId' | 'startedAtMs'> = {
    isEnded: false,
    cancellation: signal,
    beganAtMs: 0,
    door: 'tcp',
    source: 'bench',
    credential: 'token',
    requestId: '',
    toolName: 'files.read',
    input,
    timeoutMs: 0,
    dedupeKey: '',
    taskId: '',
    correlationId: '',
    confirmBinding: '',
    signal,
  };
  const clock = { nowMs: Date.now };
  return async () => {
    const ending = await gates.run({ ...call, callId: randomUUIDv7(), startedAtMs: Date.now() }, clock);
    if (ending.kind !== 'completed') throw new Error(`the gates did not pass the call: ${JSON.stringify(ending)}`);
  };
}

/** CPU microseconds that one run takes. CPU, not time: other programs on the machine do not count. */
async function costOf(run: () => Promise<void>, seconds: number): Promise<number> {
  const endsAt = performance.now() + seconds * 1000;
  const before = process.cpuUsage();
  let count = 0;
  while (performance.now() < endsAt) {
    for (let n = 0; n < 100; n++) await run();
    count += 100;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
