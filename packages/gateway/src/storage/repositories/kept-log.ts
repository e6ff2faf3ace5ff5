import type { LogSource, NodeReader, StoredCheckpoint, StoredRecord } from '@sallyport/log';
import type { SealedSecret } from './secret-repository.ts';

/**
 * The log and the state beside it as they were when it was opened, to be verified without the daemon. Nothing in it is
 * trusted, and it does not see what the daemon writes meanwhile.
 */
export interface KeptLog extends LogSource {
  readonly size: number;
  readonly recordAt: (index: number) => StoredRecord | undefined;
  /** In the order of the log, the first 1000 of them. */
  readonly recordsOfCall: (callId: string) => readonly StoredRecord[];
  /** The record about the erasure of this one's payload. Undefined: there is none. */
  readonly erasureOf: (index: number) => StoredRecord | undefined;
  /** Absent: nothing is signed yet. */
  readonly lastCheckpoint: () => StoredCheckpoint | undefined;
  /** Nodes of the tree, for proofs. Verify a proof before you give it to anybody. */
  readonly readNode: NodeReader;
  /** As they are stored: sealed. */
  readonly listSecrets: () => readonly SealedSecret[];
  /**
   * What in the state something other than the gate has changed, in words; empty: nothing. The key is base64 of 32
   * bytes.
   */
  readonly judgeState: (stateKey: string) => readonly string[];
  readonly close: () => void;
}
