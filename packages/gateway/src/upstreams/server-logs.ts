import { appendFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cutText, ownText, say, splitLines } from '../call/redacted.ts';
import type { Redacted } from '../call/redacted.ts';

/** Redacts a text that arrives in pieces. As RedactedStream. */
export interface StreamRedaction {
  readonly add: (text: string) => Redacted;
  readonly end: () => Redacted;
}

export interface LogLine {
  /** Counts the lines of a server, from 1. */
  readonly number: number;
  readonly atMs: number;
  readonly text: string;
}

/** One run of a server. */
export interface ServerLog {
  /** What it wrote to standard error. */
  readonly add: (chunk: Uint8Array) => void;
  /** It ended, and why. Undefined: it was ended by the gate. */
  readonly end: (why: Redacted | undefined) => void;
}

/** The size of one file. There are two: the current one, and the one before it. */
const mostBytes = 256 * 1024;
const longestLine = 2000;
/** What is not written yet; a server that writes faster than the disk loses lines, and the log says how many. */
const mostWaiting = 256 * 1024;

/**
 * What servers write to standard error, without secrets: the last of it, in a file for each.
 *
 * Durability: none is promised. Concurrency: one run of a server at a time; reading at any time.
 */
export class ServerLogs {
  readonly #folder: string;
  readonly #openRedaction: () => StreamRedaction;
  readonly #files = new Map<string, LogFile>();

  constructor(folder: string, openRedaction: () => StreamRedaction) {
    this.#folder = folder;
    this.#openRedaction = openRedaction;
  }

  open(upstream: string): ServerLog {
    const file = this.#fileOf(upstream);
    const redaction = this.#openRedaction();
    const decoder = new TextDecoder();
    const write = (text: Redacted): void => file.write(splitLines(text).filter((line) => line.trim() !== ''));
    file.write([ownText('(started)')]);
    return {
      add: (chunk) => write(redaction.add(decoder.decode(chunk, { stream: true }))),
      end: (why) => {
        write(redaction.end());
        file.write([why === undefined ? ownText('(ended by the gate)') : say`(ended: ${why})`]);
      },
    };
  }

  /** The last lines, the oldest first. `after`: only those with a larger number. */
  async read(
    upstream: string,
    { after = 0, most }: { readonly after?: number; readonly most: number },
  ): Promise<readonly LogLine[]> {
    const lines = await this.#fileOf(upstream).read();
    return lines.filter(({ number }) => number > after).slice(-most);
  }

  /** Resolves when a line with a larger number was written, or the signal aborts. */
  async wait(upstream: string, after: number, signal: AbortSignal): Promise<void> {
    await this.#fileOf(upstream).wait(after, signal);
  }

  async remove(upstream: string): Promise<void> {
    await this.#files.get(upstream)?.settled();
    this.#files.delete(upstream);
    for (const name of namesOf(upstream)) await rm(join(this.#folder, name), { force: true });
  }

  #fileOf(upstream: string): LogFile {
    return this.#files.getOrInsertComputed(upstream, () => new LogFile(this.#folder, namesOf(upstream)));
  }
}

function namesOf(upstream: string): readonly [now: string, before: string] {
  return [`${upstream}.log`, `${upstream}.log.1`];
}

/** Writes happen one after the other. A failed write is lost, because a log must not delay the server. */
class LogFile {
  readonly #folder: string;
  readonly #now: string;
  readonly #before: string;
  readonly #waiting = new Set<() => void>();
  #writing: Promise<void>;
  #waitingBytes = 0;
  #lost = 0;
  #bytes = 0;
  #last = 0;

  constructor(folder: string, [now, before]: readonly [string, string]) {
    this.#folder = folder;
    this.#now = join(folder, now);
    this.#before = join(folder, before);
    this.#writing = this.#begin().catch(() => undefined);
  }

  write(texts: readonly Redacted[]): void {
    const atMs = Date.now();
    for (const text of texts) {
      if (this.#waitingBytes > mostWaiting) {
        this.#lost += 1;
        continue;
      }
      const lost = this.#lost === 0 ? [] : [`(${this.#lost} lines were left out)`];
      this.#lost = 0;
      for (const line of [...lost, cutText(text, longestLine)]) this.#append(atMs, line);
    }
  }

  async read(): Promise<readonly LogLine[]> {
    await this.settled();
    const texts = await Promise.all([this.#before, this.#now].map((file) => readFile(file, 'utf8').catch(() => '')));
    return texts.join('').split('\n').flatMap(parseLine);
  }

  async wait(after: number, signal: AbortSignal): Promise<void> {
    await this.settled();
    if (this.#last > after || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise.finally(() => this.#waiting.delete(resolve));
  }

  settled(): Promise<void> {
    return this.#writing;
  }

  /** Numbers continue where an earlier daemon ended. */
  async #begin(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const text = await readFile(this.#now, 'utf8').catch(() => '');
    this.#bytes = Buffer.byteLength(text);
    this.#last = text.split('\n').flatMap(parseLine).at(-1)?.number ?? 0;
  }

  #append(atMs: number, text: string): void {
    const size = Buffer.byteLength(text) + 30;
    this.#waitingBytes += size;
    const write = async (): Promise<void> => {
      this.#waitingBytes -= size;
      if (this.#bytes > mostBytes) {
        await rename(this.#now, this.#before);
        this.#bytes = 0;
      }
      this.#last += 1;
      const line = `${this.#last} ${atMs} ${text.replaceAll('\r', '')}\n`;
      this.#bytes += Buffer.byteLength(line);
      await appendFile(this.#now, line, { mode: 0o600 });
      for (const tell of this.#waiting) tell();
    };
    this.#writing = this.#writing.then(write).catch(() => undefined);
  }
}

function parseLine(line: string): readonly LogLine[] {
  const [, number, atMs, text = ''] = /^(\d{1,15}) (\d{1,15}) (.*)$/s.exec(line) ?? [];
  return number === undefined ? [] : [{ number: Number(number), atMs: Number(atMs), text }];
}
