import { create } from '@bufbuild/protobuf';
import {
  AuditRecordSchema,
  GetStatusResponseSchema,
  OperatorService,
  ReadAuditResponseSchema,
  StopResponseSchema,
} from '@sallyport/contract';
import type { AuditRecord, GetStatusResponse } from '@sallyport/contract';
import { decodeLeaf } from '../audit/leaf.ts';
import { hashLeaf } from '../audit/merkle.ts';
import { isRefusal } from '../model/refusal.ts';
import { authenticate } from '../stages/open-session.ts';
import type { Store, StoredRecord } from '../storage/stores.ts';
import type { Peer } from './rpc/peer.ts';
import { bindService } from './rpc/service-binding.ts';
import type { ServiceBinding } from './rpc/service-binding.ts';
import { credentialOf, rpcErrorOf } from './tool-service.ts';

/** The facts of GetStatusResponse. */
export type Status = Omit<GetStatusResponse, '$typeName' | '$unknown'>;

export interface OperatorServiceParts {
  readonly store: Pick<Store, 'findSessionByToken' | 'logSize' | 'readRecords'>;
  readonly readStatus: () => Status;
  /** Begins to stop; the answer to the request still goes out. */
  readonly stop: () => void;
}

const pollMs = 100;

/** What an operator asks the daemon itself. Only at the operator's own socket. */
export function operatorService({ store, readStatus, stop }: OperatorServiceParts): ServiceBinding {
  const identify = (peer: Peer): void => {
    const session = authenticate(store, { door: peer.door, ...credentialOf(peer) }, Date.now());
    if (isRefusal(session)) throw rpcErrorOf(session);
  };

  return bindService(OperatorService, ['operator-socket'], {
    getStatus: (_request, peer) => {
      identify(peer);
      return Promise.resolve(create(GetStatusResponseSchema, readStatus()));
    },

    stop: (_request, peer) => {
      identify(peer);
      stop();
      return Promise.resolve(create(StopResponseSchema));
    },

    readAudit: async ({ from, limit, waitMs }, peer) => {
      identify(peer);
      const most = Math.min(limit === 0 ? 50 : limit, 1000);
      const first = from < 0n ? Math.max(0, store.logSize() + Number(from)) : Number(from);
      const untilMs = Date.now() + Math.min(waitMs, 30_000);
      while (store.logSize() <= first && Date.now() < untilMs && !peer.signal.aborted) await sleep(pollMs);
      const records = store.readRecords(first, most).map(describeRecord);
      return create(ReadAuditResponseSchema, { records, logSize: BigInt(store.logSize()) });
    },
  });
}

function describeRecord(record: StoredRecord): AuditRecord {
  const leaf = decodeLeaf(record.leaf);
  return create(AuditRecordSchema, {
    index: BigInt(record.index),
    leafHash: hashLeaf(record.leaf).toString('hex'),
    kind: leaf.kind,
    result: leaf.result,
    timeMs: BigInt(leaf.timeMs),
    callId: leaf.callId ?? '',
    sessionId: leaf.sessionId ?? '',
    rulesHash: leaf.rulesHash ?? '',
    payloadJson: record.payload ?? '',
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
