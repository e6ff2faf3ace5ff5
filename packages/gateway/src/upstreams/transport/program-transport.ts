import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { OutputTail } from '@sallyport/sandbox';
import type { OpenProgram, Program, ProgramEnd, ProgramOpener, RunOptions } from '@sallyport/sandbox';
import { redactEnd } from '../../call/redacted.ts';
import type { Redacted, RedactText } from '../../call/redacted.ts';
import { ToolFailure } from '../../call/tool.ts';
import { makeVisible } from '@sallyport/contract';
import { LineSplitter } from './line-splitter.ts';
import { maxMessageBytes, MessageMeter } from './message-meter.ts';
import { PlainCalls } from '../plain-calls.ts';
import { ServerEnded } from './server-ended.ts';

const tailCharacters = 4000;

/** How much of a chunk has been processed. `unasked`: messages that do not answer a call. */
interface Taken {
  messages: number;
  unasked: number;
  readonly bytes: number;
}

/** Listeners for what the server does apart from its messages. */
export interface TransportHearing {
  readonly redact: RedactText;
  readonly onNetwork?: RunOptions['onNetwork'] | undefined;
  readonly onStderr?: (chunk: Uint8Array) => void;
}

/**
 * Talks to a server in the sandbox: one JSON-RPC message a line. Lines that are not JSON are dropped, because some
 * servers print messages for people to standard output. A line that is too long ends the server.
 */
export class ProgramTransport implements Transport {
  /**
   * Their presence tells the SDK what kind of transport it is: a server may answer nothing before it is initialized.
   */
  readonly pid = null;
  readonly stderr = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Calls of tools that need nothing of the SDK. */
  readonly calls = new PlainCalls((line) => this.#write(line));
  readonly #program: Program;
  readonly #opener: ProgramOpener;
  readonly #onNetwork: RunOptions['onNetwork'];
  readonly #onStderr: TransportHearing['onStderr'];
  readonly #closing = new AbortController();
  readonly #meter = new MessageMeter();
  readonly #lines = new LineSplitter(maxMessageBytes);
  readonly #errors = new OutputTail();
  readonly #redact: RedactText;
  #failure: Error | undefined;
  #open: OpenProgram | undefined;
  /** Lines that go out at the end of this turn. */
  #unsent = '';

  constructor(program: Program, opener: ProgramOpener, { redact, onNetwork, onStderr }: TransportHearing) {
    this.#program = program;
    this.#opener = opener;
    this.#redact = redact;
    this.#onNetwork = onNetwork;
    this.#onStderr = onStderr;
  }

  /** Why it closed. Undefined: it is open, or was closed on purpose. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  async start(): Promise<void> {
    this.#open = this.#opener.open(this.#program, {
      signal: this.#closing.signal,
      onStdout: (chunk) => this.#take(chunk),
      onStderr: (chunk) => {
        this.#errors.add(chunk);
        this.#onStderr?.(chunk);
      },
      ...(this.#onNetwork === undefined ? {} : { onNetwork: this.#onNetwork }),
    });
    const { started, ended } = this.#open;
    const closed = ended.then(
      (end) => this.#end(describeEnd(end, redactEnd(this.#errors.read().trim(), tailCharacters, this.#redact))),
      (error: unknown) => this.#end(error instanceof Error ? error : new Error(String(error))),
    );
    await Promise.race([started, closed]);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#open === undefined || this.#closing.signal.aborted) throw new Error('the server is not running');
    const answer = this.calls.watch(message);
    if (answer === undefined) this.#write(`${JSON.stringify(message)}\n`);
    else this.onmessage?.(answer);
  }

  /** What the processes of the server have used until now. Empty: that cannot be measured. */
  measure(): ReturnType<OpenProgram['measure']> {
    return this.#open?.measure() ?? Promise.resolve({});
  }

  /** Resolves when every process of the server is gone. */
  async close(): Promise<void> {
    this.#flush();
    this.#closing.abort();
    await this.#open?.ended.catch(() => undefined);
  }

  /**
   * Lines of one turn go out in one write, because many calls are admitted together. Lines to a server that
   * has ended are lost, and all callers that wait get its end.
   */
  #write(line: string): void {
    if (this.#unsent === '') process.nextTick(this.#flush);
    this.#unsent += line;
  }

  readonly #flush = (): void => {
    const lines = this.#unsent;
    this.#unsent = '';
    if (lines !== '') this.#open?.write(Buffer.from(lines));
  };

  /** Reading goes on at once, or when the promise resolves. */
  #take(chunk: Uint8Array): Promise<void> | undefined {
    return this.#takeLines(this.#lines.split(chunk), { messages: 0, unasked: 0, bytes: chunk.length });
  }

  #takeLines(lines: Iterator<Buffer | undefined>, taken: Taken): Promise<void> | undefined {
    for (let next = lines.next(); next.done !== true; next = lines.next()) {
      const line = next.value;
      if (line === undefined) {
        const limit = `larger than ${maxMessageBytes / 1024 / 1024} MB`;
        this.#fail(new ToolFailure('TOO_LARGE', `The upstream server sent a message ${limit}, and was ended.`));
        return undefined;
      }
      taken.messages += 1;
      const kind = this.#dispatch(line);
      if (kind !== 'answer') taken.unasked += 1;
      // The SDK hands out news a turn later than answers, so that the last progress would come after the end.
      // Many small answers must not hold up everybody else either.
      if (kind === 'news' || taken.messages % 100 === 0) return nextTurn().then(() => this.#takeLines(lines, taken));
    }
    // Calls are counted elsewhere, and each has one answer.
    const pauseMs = this.#meter.charge({ messages: taken.unasked, bytes: taken.bytes });
    if (pauseMs <= 0) return undefined;
    return sleep(pauseMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
  }

  #dispatch(line: Buffer): 'answer' | 'news' | 'other' {
    let message: unknown;
    try {
      message = JSON.parse(line.toString());
    } catch {
      return 'other';
    }
    const taken = this.calls.take(message);
    if (taken !== undefined) return taken;
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    return typeof message === 'object' && message !== null && 'id' in message ? 'other' : 'news';
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#closing.abort();
  }

  #end(why: Error): void {
    if (!this.#closing.signal.aborted) this.#failure ??= why;
    this.#closing.abort();
    this.calls.close(this.#failure ?? new Error('the server closed the connection'));
    this.onclose?.();
  }
}

function describeEnd({ how }: ProgramEnd, errors: Redacted): Error {
  const ending = {
    exited: () => `ended with exit code ${(how as { code: number }).code}`,
    killed: () => `was ended by ${(how as { signal: string }).signal}`,
    limit: () => `reached its limit ${(how as { limit: string }).limit}`,
    // Servers are not told how to.
    answered: () => 'ended with an answer',
    misanswered: () => 'ended with half an answer',
    'disk-nearly-full': () => 'was ended because the disk that it wrote to is nearly full',
    aborted: () => 'was ended because it did not read what it was sent',
  }[how.kind]();
  return new ServerEnded(`it ${ending}`, makeVisible(errors));
}
