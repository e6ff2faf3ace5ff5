// Mutates the messages of the corpus and gives them to the typed door. By hand, and for longer than a test:
//   node test/protocol/fuzz.ts --inputs 1000000 [--seed 1]
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InMemoryDoor } from './in-memory-door.ts';
import type { Fate } from './in-memory-door.ts';

export interface FuzzReport {
  readonly seed: number;
  readonly inputs: number;
  /** How many inputs met which fate. */
  readonly fates: Readonly<Record<Fate['kind'], number>>;
  readonly slowestMs: number;
  /** Growth of the heap and of all buffers over the run. */
  readonly grownBytes: number;
}

export interface FuzzOptions {
  readonly seed: number;
  readonly inputs: number;
  /** Stop after so long, whatever is left. Absent: go on to the end. */
  readonly limitMs?: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const corpusFolder = join(import.meta.dirname, 'corpus');

export function readCorpus(): ReadonlyMap<string, Buffer> {
  return new Map(readdirSync(corpusFolder).map((name) => [name, readFileSync(join(corpusFolder, name))]));
}

/** Throws at the first input that the door does not take as it should; the error holds the input. */
export async function fuzz({ seed, inputs, limitMs = Number.POSITIVE_INFINITY }: FuzzOptions): Promise<FuzzReport> {
  const door = new InMemoryDoor();
  const mutator = new Mutator(seed, [...readCorpus().values()]);
  const fates = { undecodable: 0, malformed: 0, submitted: 0 };
  const startedMs = performance.now();
  const memoryBefore = usedBytes();
  let slowestMs = 0;
  let done = 0;
  for (; done < inputs && performance.now() - startedMs < limitMs; done++) {
    const input = mutator.next();
    const sentMs = performance.now();
    try {
      const { kind } = await door.receive(input);
      fates[kind]++;
      if (kind === 'submitted') mutator.learn(input);
    } catch (error) {
      throw new Error(`seed ${seed}, input ${done}: ${input.toString('hex')}`, { cause: error });
    }
    slowestMs = Math.max(slowestMs, performance.now() - sentMs);
  }
  return { seed, inputs: done, fates, slowestMs, grownBytes: usedBytes() - memoryBefore };
}

/** What is still in use after a collection. */
function usedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Tags of our messages, lengths and numbers at the edges, and pieces of paths and of broken UTF-8. */
const fragments = [
  ...[
    '0a00',
    '1200',
    '1a00',
    '5200',
    '5a00',
    '6200',
    '6a00',
    '7200',
    '7a00',
    '820100',
    '2a00',
    '10ffffffffffffffffff01',
  ],
  ...['ff', '80', '7f', 'ffffffff07', 'ffffffff0f', '8080808080808080808001', '1b', '1c', '0b', '0c', 'eda080', 'c080'],
  ...['2e2e2f', '2f2e2e', '00', '3d', '3d3d', 'efbbbf', 'f09f9880'],
].map((hex) => Buffer.from(hex, 'hex'));
const longestInput = 4096;
const mostLearnt = 2000;

class Mutator {
  readonly #corpus: readonly Buffer[];
  readonly #learnt: Buffer[] = [];
  #state: number;

  constructor(seed: number, corpus: readonly Buffer[]) {
    this.#corpus = corpus;
    this.#state = seed;
  }

  /** Inputs that went through are worth another change. */
  learn(input: Buffer): void {
    // A copy of its own: a view would keep the whole piece of memory that it is cut from.
    const copy = Buffer.alloc(input.length);
    input.copy(copy);
    this.#learnt[this.#learnt.length < mostLearnt ? this.#learnt.length : this.#below(mostLearnt)] = copy;
  }

  next(): Buffer {
    const pool = this.#below(2) === 0 ? this.#corpus : this.#learnt;
    let input: Buffer = Buffer.from(this.#pick(pool));
    for (let changes = 1 + this.#below(3); changes > 0; changes--) input = this.#change(input);
    return input.subarray(0, longestInput);
  }

  #change(input: Buffer): Buffer {
    const at = this.#below(input.length + 1);
    const until = Math.min(input.length, at + this.#below(16));
    switch (this.#below(7)) {
      case 0:
        if (at < input.length) input[at] = (input[at] ?? 0) ^ (1 << this.#below(8));
        return input;
      case 1:
        if (at < input.length) input[at] = this.#below(256);
        return input;
      case 2:
        return Buffer.concat([input.subarray(0, at), this.#pick(fragments), input.subarray(at)]);
      case 3:
        return Buffer.concat([input.subarray(0, at), input.subarray(until)]);
      case 4:
        return Buffer.concat([input.subarray(0, until), input.subarray(at)]);
      case 5:
        return input.subarray(0, at);
      default:
        return Buffer.concat([input.subarray(0, at), this.#pick(this.#corpus).subarray(this.#below(8))]);
    }
  }

  #pick(from: readonly Buffer[]): Buffer {
    return from[this.#below(from.length)] ?? Buffer.alloc(0);
  }

  /** Mulberry32: the same seed gives the same inputs on every machine. */
  #below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { inputs: { type: 'string' }, seed: { type: 'string' } } });
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  const report = await fuzz({ seed, inputs: Number(values.inputs ?? 100_000) });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
}
