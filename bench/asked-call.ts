import { randomUUIDv7 } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewApproval } from '../packages/gateway/src/call/approval.ts';
import { newPlace, TestDaemon } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import { liftLimits } from '../test/harness/lift-limits.ts';
import type { Budget } from './measure.ts';
import { openStoreOf } from './open-store.ts';
import { readThreadTimes } from './thread-times.ts';

const pending = 10_000;
/** So many of them are of the agent that asks. */
const ownPending = 900;
const asksPerRound = 10;
const expiresInMs = 3_600_000;

interface Gate {
  readonly daemon: TestDaemon;
  readonly token: string;
}

/** A call that a person has to approve, at a gate where thousands wait already and at one where none does. */
export function askedCall(): Budget {
  let [empty, crowded]: Gate[] = [];
  let asked = 0;
  return {
    name: `an asked call with ${pending} approvals pending`,
    bar: '≤ 1.2 × with none',
    meets: (ratio) => ratio <= 1.2,
    setUp: async () => {
      [empty, crowded] = [await openGate(0), await openGate(pending)];
      return async () => {
        for (const gate of [empty, crowded]) await gate?.daemon.remove();
      };
    },
    round: async () => {
      const [floors, subjects]: number[][] = [[], []];
      for (let times = 0; times < asksPerRound; times++) {
        asked += 1;
        if (empty !== undefined) floors?.push(await ask(empty, asked));
        if (crowded !== undefined) subjects?.push(await ask(crowded, asked));
      }
      return {
        floor: lower(floors ?? []),
        subject: lower(subjects ?? []),
        unit: 'µs of CPU of the main thread',
        details: {},
      };
    },
  };
}

async function ask({ daemon, token }: Gate, nth: number): Promise<number> {
  const processId = daemon.process.pid ?? 0;
  writeFileSync(join(daemon.place.workspace, `file-${nth}.txt`), 'some text\n'.repeat(20));
  const before = readThreadTimes(processId).main;
  const answer = await daemon.call('files.delete', { path: `file-${nth}.txt` }, { token });
  const took = readThreadTimes(processId).main - before;
  if (answer.denied?.rationaleCode !== 'APPROVAL_REQUIRED')
    throw new Error(`nobody was asked: ${JSON.stringify(answer)}`);
  return took;
}

async function openGate(waiting: number): Promise<Gate> {
  const place = liftLimits(newPlace());
  writeFileSync(
    join(place.home, 'governance', 'limits.yaml'),
    `version: 1\nrates: []\napprovals: { expire_seconds: ${expiresInMs / 1000}, remind_seconds: 3000, max_pending: 1000 }\n`,
  );
  const first = await TestDaemon.start(place);
  const created = await first.call('sessions.create', { agent: 'bench' });
  const { token, sessionId } = JSON.parse(created.success?.outputJson ?? '{}') as {
    token: string;
    sessionId: string;
  };
  if (waiting > 0) {
    await first.kill('SIGTERM');
    await fill(place, sessionId, waiting);
  }
  const daemon = waiting > 0 ? await TestDaemon.start(place) : first;
  for (let nth = -20; nth < 0; nth++) await ask({ daemon, token }, nth);
  return { daemon, token };
}

async function fill(place: Place, sessionId: string, waiting: number): Promise<void> {
  const store = await openStoreOf(place);
  try {
    const tasks = Array.from({ length: waiting }, (_, at) => taskOf(at, at < ownPending ? sessionId : randomUUIDv7()));
    await Promise.all(tasks.map((task) => store.openApproval(task)));
  } finally {
    await store.close();
  }
}

function taskOf(at: number, sessionId: string): NewApproval {
  const nowMs = Date.now();
  const digits = (of: string): string => `${of}${at}`.padStart(64, '0');
  return {
    ...{
      id: randomUUIDv7(),
      sessionId,
      agent: 'bench',
      callId: randomUUIDv7(),
      traceId: '0'.repeat(32),
      requestId: `r-${at}`,
    },
    ...{
      tool: 'files.delete',
      toolVersion: '1.0.0',
      binding: digits('b'),
      scopeSha256: digits('5'),
      effectSha256: digits('e'),
    },
    ...{
      title: 'Delete a file.',
      effect: '- some text\n'.repeat(20),
      undoable: true,
      risk: 'high',
      ruleId: 'workspace-delete',
    },
    ...{ reason: 'It deletes.', rulesHash: digits('a'), approverRole: 'senior', createdAtMs: nowMs },
    ...{ remindAtMs: nowMs + expiresInMs - 1000, expiresAtMs: nowMs + expiresInMs },
  };
}

/** The lower quartile: what others do on the machine only ever adds. */
function lower(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 4)] ?? NaN;
}
