import type { LogSource, NodeReader, StoredCheckpoint, StoredRecord } from '@sallyport/log';
import type { SealedSecret } from './secret-repository.ts';

/**
 * The log and the state beside it as they stood when it was opened, to be judged without the daemon. Nothing in it is
 * believed, and what the daemon writes meanwhile is not seen.
 */
export interface KeptLog extends LogSource {
  readonly size: number;
  readonly recordAt: (index: number) => StoredRecord | undefined;
  /** In the order of the log, the first 1000 of them. */
  readonly recordsOfCall: (callId: string) => readonly StoredRecord[];
  /** The record that says that the payload of this one was erased. Undefined: none does. */
  readonly erasureOf: (index: number) => StoredRecord | undefined;
  /** Absent: nothing is signed yet. */
  readonly lastCheckpoint: () => StoredCheckpoint | undefined;
  /** Nodes of the tree, for proofs. Verify a proof before it is handed out. */
  readonly readNode: NodeReader;
  /** As they are stored: sealed. */
  readonly listSecrets: () => readonly SealedSecret[];
  /** What in the state something other than the gate has changed, in words; empty: nothing. The key is base64 of 32 bytes. */
  readonly judgeState: (stateKey: string) => readonly string[];
  readonly close: () => void;
}
