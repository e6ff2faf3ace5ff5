import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { exitCodes } from '@sallyport/contract/codes';
import { frameMessage, FrameReader } from '@sallyport/gateway';
import type { Target } from '@sallyport/contract/http-transport';
import { CommandFailure, interrupted, RpcFailure } from './failure.ts';

// Importing a module of the platform reads every export of it; few commands need these.
const http2 = process.getBuiltinModule('node:http2');
const net = process.getBuiltinModule('node:net');

const mostMessageBytes = 4 * 1024 * 1024;

export interface StreamTarget {
  readonly target: Target;
  readonly credential: string;
}

interface StreamMethod<Input extends DescMessage, Output extends DescMessage> {
  readonly parent: { readonly typeName: string };
  readonly name: string;
  readonly input: Input;
  readonly output: Output;
}

/** One gRPC call to the daemon whose messages stream. Ctrl-C cancels it. Must be disposed of. */
export class RpcStream<Input extends DescMessage, Output extends DescMessage> implements Disposable {
  readonly #method: StreamMethod<Input, Output>;
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #onInterrupt: () => void;
  #status: IncomingHttpHeaders = {};

  private constructor(method: StreamMethod<Input, Output>, socket: Socket, credential: string) {
    this.#method = method;
    this.#session = http2.connect('http://localhost', { createConnection: () => socket });
    this.#stream = this.#session.request({
      // Every door takes this name. By itself node would add a port, which is the wrong one.
      ':authority': 'localhost',
      ':method': 'POST',
      ':path': `/${method.parent.typeName}/${method.name}`,
      'content-type': 'application/grpc+proto',
      te: 'trailers',
      authorization: `Bearer ${credential}`,
    });
    this.#stream.on('response', (headers) => (this.#status = headers));
    this.#stream.on('trailers', (headers) => (this.#status = headers));
    for (const emitter of [this.#session, this.#stream]) emitter.on('error', () => undefined);
    this.#onInterrupt = () => this.#stream.destroy(interrupted());
    process.once('SIGINT', this.#onInterrupt);
  }

  /** Rejects with the error of the system when nobody listens. */
  static async open<Input extends DescMessage, Output extends DescMessage>(
    { target, credential }: StreamTarget,
    method: StreamMethod<Input, Output>,
  ): Promise<RpcStream<Input, Output>> {
    const socket = net.connect(target);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RpcStream(method, socket, credential);
  }

  /** Waits while the daemon is behind. False when it takes no more, because it has answered or is gone. */
  async send(message: MessageInitShape<Input>): Promise<boolean> {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed || stream.readableEnded) return false;
    const { input } = this.#method;
    if (stream.write(frameMessage(toBinary(input, create(input, message))))) return true;
    await new Promise<void>((resolve) => {
      const proceed = (): void => {
        for (const event of ['drain', 'close', 'end']) stream.off(event, proceed);
        resolve();
      };
      for (const event of ['drain', 'close', 'end']) stream.on(event, proceed);
    });
    return true;
  }

  /** Says that nothing more is sent. */
  finish(): void {
    this.#stream.end();
  }

  /** The messages of the daemon. Throws CommandFailure when the call does not end well. */
  async *receive(): AsyncGenerator<MessageShape<Output>> {
    const reader = new FrameReader(mostMessageBytes);
    try {
      for await (const bytes of this.#stream as AsyncIterable<Buffer>) {
        for (const message of reader.push(bytes)) yield fromBinary(this.#method.output, message);
      }
    } catch (error) {
      throw error instanceof CommandFailure ? error : connectionLost(error);
    }
    const { 'grpc-status': status, 'grpc-message': said = '' } = this.#status;
    if (status === undefined) throw connectionLost();
    if (status !== '0') throw new RpcFailure(wordOf(status), decodeURIComponent(String(said)));
  }

  [Symbol.dispose](): void {
    process.off('SIGINT', this.#onInterrupt);
    this.#stream.close();
    this.#session.destroy();
  }
}

// In the order of their numbers.
const statusWords =
  'ok canceled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied resource_exhausted failed_precondition aborted out_of_range unimplemented internal unavailable data_loss unauthenticated'.split(
    ' ',
  );

function wordOf(status: string | string[]): string {
  return statusWords[Number(status)] ?? 'unknown';
}

function connectionLost(cause?: unknown): CommandFailure {
  return new CommandFailure('CONNECTION_LOST', exitCodes.unreachable, 'The daemon ended before it answered.', {
    cause,
    remedy: 'Run the same command again once it is back: a transfer goes on where it stopped.',
  });
}
