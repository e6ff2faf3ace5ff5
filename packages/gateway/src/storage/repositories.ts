// What calls do not read every time. Changes are as durable as those of the ledger; reads see every change whose
// promise has resolved, and may wait.
export type * from './repositories/anomaly-repository.ts';
export type * from './repositories/approval-repository.ts';
export type * from './repositories/call-memory.ts';
export type * from './repositories/content-repository.ts';
export type * from './repositories/erasure-repository.ts';
export type * from './repositories/governance-repositories.ts';
export type * from './repositories/journal-repository.ts';
export type * from './repositories/kept-log.ts';
export type * from './repositories/record-repository.ts';
export type * from './repositories/secret-repository.ts';
export type * from './repositories/session-repository.ts';
export type * from './repositories/tool-pin-repository.ts';
export type * from './repositories/workspace-repository.ts';
