import type { Lease, Principal, Session } from '../../model/session.ts';
import type { Row } from './database.ts';

export function readSession(row: Row): Session {
  return {
    id: String(row['id']),
    principal: row['principal'] as Principal,
    agent: String(row['agent']),
    status: row['status'] === 'active' ? 'active' : 'ended',
    createdAtMs: Number(row['created_at_ms']),
    ...(row['expires_at_ms'] === null ? {} : { expiresAtMs: Number(row['expires_at_ms']) }),
    workingDirectory: String(row['working_directory']),
    lease: JSON.parse(String(row['lease'])) as Lease,
    ...(row['max_calls'] === null ? {} : { maxCalls: Number(row['max_calls']) }),
    callsUsed: Number(row['calls_used']),
  };
}
