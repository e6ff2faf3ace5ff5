import { hash, randomUUIDv7 } from 'node:crypto';
import type { Admission, LogEntry, NewSession } from '../../packages/gateway/src/storage/stores.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';

// What the store suites write: each builder gives the plainest, and the test says what is special about its own.

export function sessionNamed(more: Partial<NewSession> = {}): NewSession {
  const id = randomUUIDv7();
  return {
    id,
    principal: 'agent',
    agent: `agent-${id.slice(-6)}`,
    tokenSha256: hash('sha256', id),
    createdAtMs: Date.now(),
    workingDirectory: '/workspace',
    lease: { id: randomUUIDv7(), tools: ['files.*'] },
    ...more,
  };
}

export function eventNamed(event: string): LogEntry {
  return { kind: 'event', result: 'none', timeMs: Date.now(), payload: ownText(JSON.stringify({ event })) };
}

export function admissionFor(session: NewSession): Admission {
  return {
    sessionId: session.id,
    basedOn: Number.MAX_SAFE_INTEGER,
    leaseId: session.lease.id,
    tool: 'files.read',
    intent: {
      kind: 'intent',
      result: 'none',
      timeMs: Date.now(),
      callId: randomUUIDv7(),
      sessionId: session.id,
      payload: ownText('{}'),
    },
    reservations: [],
  };
}

export function outcomeFor(admission: Admission, result: LogEntry['result'] = 'ok'): LogEntry & { callId: string } {
  return { ...admission.intent, kind: 'outcome', result };
}
