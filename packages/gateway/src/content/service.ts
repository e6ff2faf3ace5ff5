import { create, fromJson } from '@bufbuild/protobuf';
import type { JsonValue, MessageInitShape } from '@bufbuild/protobuf';
import {
  ContentService,
  GetResponseSchema,
  PutResponseSchema,
  spellBytes,
  StatResponseSchema,
} from '@sallyport/contract';
import type { CallContext, Json, JsonObject, PutHeader, PutRequest } from '@sallyport/contract';
import { GarbageMeter } from './garbage-meter.ts';
import { HandOver } from './hand-over.ts';
import type { DownloadStream, Transfers, UploadStream } from './transfers.ts';
import type { Answer } from '../call/answer.ts';
import { doors } from '../call/call.ts';
import { isRefusal } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import { findCaller } from '../doors/check-caller.ts';
import type { Submit } from '../call/submission.ts';
import type { Store } from '../storage/stores.ts';
import { oneByOne } from '../doors/transport/wire/one-by-one.ts';
import type { Peer } from '../doors/transport/peer.ts';
import { RpcError } from '../doors/transport/rpc-error.ts';
import { bindService } from '../doors/transport/service-binding.ts';
import type { ServiceBinding } from '../doors/transport/service-binding.ts';
import { checkKnown, presentAnswer } from '../doors/connect/present-answer.ts';
import { readCall } from '../doors/connect/read-call.ts';

export interface ContentServiceParts {
  readonly store: Pick<Store, 'findSessionByToken'>;
  readonly uploads: Transfers<UploadStream>;
  readonly downloads: Transfers<DownloadStream>;
  /** Runs a call through the gateway. */
  readonly submit: Submit;
}

type GetStep = NonNullable<MessageInitShape<typeof GetResponseSchema>['step']>;

const hashLength = 32;
const garbage = new GarbageMeter();
const mostChunkBytes = 1024 * 1024;
const tellEveryBytes = 1024 * 1024;
const ignore = (): void => undefined;

/** Streams of content around governed calls: the bytes move while the call runs, never before or after. */
export function contentService({ store, uploads, downloads, submit }: ContentServiceParts): ServiceBinding {
  /** Whose stream it is. Empty for a caller without a session, whom the gateway refuses, and records. */
  const ownerOf = (peer: Peer): string => {
    const session = findCaller(store, peer);
    return isRefusal(session) ? '' : session.id;
  };

  const runTool = async (name: string, args: JsonObject, { requestId, context }: Identified, peer: Peer) => {
    const request = { name, inputJson: JSON.stringify(args), requestId, context };
    const answer = await submit(readCall({ ...request, timeoutMs: 0, dedupeKey: '', confirmBinding: '' }, peer));
    checkKnown(answer);
    return { call: presentAnswer(answer), output: outputOf(answer) };
  };

  return bindService(ContentService, doors, {
    put: oneByOne(async function* (requests: AsyncIterable<PutRequest>, peer) {
      const steps = requests[Symbol.asyncIterator]();
      const header = await readHeader(steps);
      const news = new Latest();
      const upload = uploads.register(ownerOf(peer), {
        chunks: chunksOf(steps, peer),
        onReceived: (n) => news.tell(n),
      });
      const args = { ...declaredOf(header), upload_id: upload.id };
      const run = runTool('content.put', args, header, peer).finally(() => (upload.close(), news.end()));
      const ended = run.catch(ignore);
      try {
        for await (const received of news) {
          yield create(PutResponseSchema, { step: { case: 'progress', value: { received: BigInt(received) } } });
        }
        const { call, output } = await run;
        const stored = { hash: bytesOf(output?.['hash']), size: numberOf(output?.['size']) };
        yield create(PutResponseSchema, { step: { case: 'outcome', value: { call, ...stored } } });
      } finally {
        // A caller who leaves gets no answer, but the call has ended and is recorded.
        await ended;
        await steps.return?.();
      }
    }),

    get: async function* (request, peer) {
      const { offset, limit } = request;
      const steps = new HandOver<GetStep>();
      const download = downloads.register(ownerOf(peer), {
        begin: ({ sizeBytes, offset: from, lengthBytes }, signal) => {
          const value = { size: BigInt(sizeBytes), offset: BigInt(from), length: BigInt(lengthBytes) };
          return steps.write({ case: 'header', value }, signal);
        },
        write: (chunk, signal) => {
          garbage.count(chunk.length);
          return steps.write({ case: 'chunk', value: asBytes(chunk) }, signal);
        },
      });
      const range = { offset: safeNumber('offset', offset), limit: safeNumber('limit', limit) };
      const args = { hash: hexOf(request.hash), ...range, download_id: download.id };
      const run = runTool('content.get', args, request, peer).finally(() => (download.close(), steps.end()));
      const ended = run.catch(ignore);
      try {
        for await (const step of steps) yield create(GetResponseSchema, { step });
        yield create(GetResponseSchema, { step: { case: 'outcome', value: (await run).call } });
      } finally {
        await ended;
      }
    },

    stat: async (request, peer) => {
      const { call, output } = await runTool('content.stat', { hash: hexOf(request.hash) }, request, peer);
      return { ...fromJson(StatResponseSchema, (output ?? {}) as JsonValue, { ignoreUnknownFields: true }), call };
    },
  });
}

interface Identified {
  readonly requestId: string;
  readonly context?: CallContext | undefined;
}

async function readHeader(steps: AsyncIterator<PutRequest>): Promise<PutHeader> {
  const first = await steps.next();
  if (first.done !== true && first.value.step.case === 'header') return first.value.step.value;
  throw new RpcError('invalid_argument', 'An upload begins with a header.');
}

/** Ends only when the caller says so: a stream that just closes was broken off. */
async function* chunksOf(steps: AsyncIterator<PutRequest>, peer: Peer): AsyncGenerator<Uint8Array> {
  for (;;) {
    const next = await steps.next();
    if (next.done === true) throw new ToolFailure('CANCELLED', 'The sender broke off the upload.');
    const { step } = next.value;
    if (step.case === 'end') return;
    if (step.case !== 'chunk') throw new ToolFailure('INVALID_ARGUMENTS', 'After the header come chunks and an end.');
    if (step.value.length > mostChunkBytes) {
      throw new ToolFailure('INVALID_ARGUMENTS', `A chunk may have at most ${spellBytes(mostChunkBytes)}.`);
    }
    garbage.count(step.value.length);
    yield step.value;
    peer.letGo(next.value);
  }
}

function declaredOf({ hash, size, offset }: PutHeader): JsonObject {
  return {
    ...(hash.length === 0 ? {} : { hash: hexOf(hash) }),
    ...(size === undefined ? {} : { size: safeNumber('size', size) }),
    offset: safeNumber('offset', offset),
  };
}

function hexOf(hash: Uint8Array): string {
  if (hash.length !== hashLength) throw new RpcError('invalid_argument', `A hash has ${hashLength} bytes.`);
  return Buffer.from(hash).toString('hex');
}

function safeNumber(field: string, value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw new RpcError('invalid_argument', `${field} is larger than any content.`);
}

/** Undefined unless the call succeeded. */
function outputOf({ output }: Answer): JsonObject | undefined {
  return output && (JSON.parse(output.outputJson) as JsonObject);
}

function bytesOf(hash: Json | undefined): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(typeof hash === 'string' ? hash : '', 'hex'));
}

function numberOf(value: Json | undefined): bigint {
  return BigInt(typeof value === 'number' ? value : 0);
}

/** The same bytes: messages take only bytes outside shared memory, and nothing here uses shared memory. */
function asBytes(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  return chunk as Uint8Array<ArrayBuffer>;
}

/** The progress of an upload, for one reader: a newer value replaces one that was not read yet. */
class Latest implements AsyncIterable<number> {
  #value = 0;
  #told = 0;
  #ended = false;
  #changed = Promise.withResolvers<void>();

  tell(value: number): void {
    this.#value = value;
    if (value - this.#told >= tellEveryBytes) this.#changed.resolve();
  }

  end(): void {
    this.#ended = true;
    this.#changed.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<number> {
    for (;;) {
      await this.#changed.promise;
      if (this.#ended) return;
      this.#changed = Promise.withResolvers<void>();
      this.#told = this.#value;
      yield this.#told;
    }
  }
}
