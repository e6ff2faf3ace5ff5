import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';
import { blake3 } from '@napi-rs/blake-hash';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import type { ClientDuplexStream, ClientReadableStream, GrpcObject, ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const protoFolder = fileURLToPath(new URL('../../packages/contract/proto', import.meta.url));
const options = { includeDirs: [protoFolder], keepCase: true, longs: Number, defaults: true, oneofs: true };

// Read from the proto file by another implementation of protobuf and of gRPC, so that nothing of ours judges itself.
const definitions = loadPackageDefinition(loadSync('sallyport/v1/content_service.proto', options));
const { ContentService } = (definitions['sallyport'] as GrpcObject)['v1'] as GrpcObject;

export interface CallAnswer {
  readonly call_id: string;
  readonly request_id: string;
  readonly success: { readonly output_json: string } | null;
  readonly denied: { readonly rationale_code: string; readonly message: string } | null;
  readonly error: { readonly code: string; readonly message: string; readonly retryable: boolean } | null;
  readonly usage: { readonly bytes_read?: number; readonly bytes_written?: number } | null;
}

export interface PutAnswer {
  readonly progress: readonly number[];
  readonly call: CallAnswer;
  readonly hash: string;
  readonly size: number;
}

export interface GetAnswer {
  readonly header: { readonly size: number; readonly offset: number; readonly length: number } | undefined;
  readonly bytes: Buffer;
  readonly call: CallAnswer;
}

interface PutStep {
  readonly step: 'progress' | 'outcome';
  readonly progress: { readonly received: number };
  readonly outcome: { readonly call: CallAnswer; readonly hash: Buffer; readonly size: number };
}

interface GetStep {
  readonly step: 'header' | 'chunk' | 'outcome';
  readonly header: NonNullable<GetAnswer['header']>;
  readonly chunk: Buffer;
  readonly outcome: CallAnswer;
}

export type PutStream = ClientDuplexStream<object, PutStep>;
export type GetStream = ClientReadableStream<GetStep>;

export function hashOf(bytes: Uint8Array): Buffer {
  return blake3(bytes);
}

/** A client of ContentService for one session. `address` as the daemon prints it, or the path of a socket. */
export class ContentClient {
  readonly #client: InstanceType<ServiceClientConstructor>;
  readonly #metadata = new Metadata();

  constructor(context: Pick<TestContext, 'after'>, address: string, token: string) {
    const target = address.startsWith('/') ? `unix:${address}` : new URL(address).host;
    this.#client = new (ContentService as ServiceClientConstructor)(target, credentials.createInsecure());
    this.#metadata.set('authorization', `Bearer ${token}`);
    context.after(() => this.#client.close());
  }

  openPut(deadlineMs?: number): PutStream {
    const put = this.#client['Put'] as (metadata: Metadata, options: object) => PutStream;
    return put.call(
      this.#client,
      this.#metadata,
      deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs },
    );
  }

  openGet(request: object): GetStream {
    const get = this.#client['Get'] as (request: object, metadata: Metadata) => GetStream;
    return get.call(this.#client, request, this.#metadata);
  }

  /** Sends all bytes in chunks and waits for the outcome. Rejects with the library's ServiceError. */
  async put(bytes: Buffer, header: object = {}, chunkBytes = 100_000): Promise<PutAnswer> {
    const stream = this.openPut();
    const answer = collectPut(stream);
    stream.write({ header });
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      if (!stream.write({ chunk: bytes.subarray(at, at + chunkBytes) })) {
        await Promise.race([once(stream, 'drain'), answer]);
      }
    }
    stream.write({ end: {} });
    stream.end();
    return answer;
  }

  async get(hash: Buffer, range: { readonly offset?: number; readonly limit?: number } = {}): Promise<GetAnswer> {
    return collectGet(this.openGet({ hash, ...range }));
  }

  stat(hash: Buffer): Promise<{ readonly call: CallAnswer; stored: boolean; size: number; received: number }> {
    return new Promise((resolve, reject) => {
      const stat = this.#client['Stat'] as (
        request: object,
        metadata: Metadata,
        callback: (error: Error | null, answer: never) => void,
      ) => void;
      stat.call(this.#client, { hash }, this.#metadata, (error, answer) => {
        if (error === null) resolve(answer);
        else reject(error);
      });
    });
  }
}

/** What comes back of an upload, to its end. */
export async function collectPut(stream: PutStream): Promise<PutAnswer> {
  const progress: number[] = [];
  for await (const step of stream as AsyncIterable<PutStep>) {
    if (step.step === 'progress') progress.push(step.progress.received);
    else return { ...step.outcome, hash: step.outcome.hash.toString('hex'), progress };
  }
  throw new Error('the answer has no outcome');
}

export async function collectGet(stream: GetStream): Promise<GetAnswer> {
  const chunks: Buffer[] = [];
  let header: GetAnswer['header'];
  for await (const step of stream as AsyncIterable<GetStep>) {
    if (step.step === 'header') header = step.header;
    else if (step.step === 'chunk') chunks.push(step.chunk);
    else return { header, bytes: Buffer.concat(chunks), call: step.outcome };
  }
  throw new Error('the answer has no outcome');
}
