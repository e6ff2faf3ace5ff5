// Everything about the tamper-evident log that another program needs. Nothing outside this package imports past it.
export {
  CheckpointError,
  createSigningKey,
  deriveTagKey,
  isSignedBy,
  isTagOf,
  openCheckpoint,
  openSigner,
  parseVerifier,
  signCheckpoint,
  tagRecord,
} from './checkpoint.ts';
export type { Checkpoint, Signer, TagKey, Verifier } from './checkpoint.ts';
export { exportLog, openExport, readRecordLine, spellRecord } from './exported-log.ts';
export type { Finding } from './findings.ts';
export {
  commitPayload,
  decodeLeaf,
  encodeCommittedLeaf,
  encodeLeaf,
  leafBytes,
  readEnding,
  saltBytes,
} from './leaf.ts';
export type { Leaf } from './leaf.ts';
export { digest, hashBytes, hashLeaf, hashNode, MerkleFrontier } from './merkle.ts';
export * from './merkle-proof.ts';
export type { PackedRecords } from './packed-records.ts';
export { covers, parseRanges, parseRemoval, rangesOf, spellRanges } from './removals.ts';
export type { IndexRange, Removal } from './removals.ts';
export { recordKinds, recordResults } from './record.ts';
export type { RecordFacts, RecordKind, RecordResult, StoredCheckpoint, StoredRecord } from './record.ts';
export { matchesPayload } from './record-judge.ts';
export { describeDecision } from './receipt-decision.ts';
export { ReceiptError, writeReceipt } from './receipt.ts';
export type { ReceiptParts } from './receipt.ts';
export { verifyReceipt } from './verify-receipt.ts';
export type { ReceiptOptions, ReceiptReport } from './verify-receipt.ts';
export { verifyConsistencyFile, writeConsistency } from './consistency.ts';
export { verifyLog } from './verify.ts';
export type { LogKeys, LogReport, LogSource, VerifyOptions } from './verify.ts';
export { askWitness, WitnessRefusal } from './witness/ask-witness.ts';
export type { WitnessPlace } from './witness/ask-witness.ts';
