import assert from 'node:assert/strict';
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestDaemon } from './daemon.ts';
import type { Place } from './daemon.ts';
import { runSallyport } from './run-sallyport.ts';

export interface ErasureJson {
  readonly erasureId: string;
  readonly subject: string;
  readonly status: string;
  readonly erasedRecords: string;
  readonly requestedBy: string;
}

/** A daemon whose clock can be set ahead, and what a test asks of it. */
export class AgingDaemon {
  readonly place: Place;
  daemon: TestDaemon;
  readonly #clockFile: string;

  private constructor(place: Place, daemon: TestDaemon, clockFile: string) {
    this.place = place;
    this.daemon = daemon;
    this.#clockFile = clockFile;
  }

  static async start(place: Place): Promise<AgingDaemon> {
    const clockFile = join(place.folder, 'ahead-ms');
    writeFileSync(clockFile, '0');
    writeFileSync(
      join(place.folder, 'clock.mjs'),
      `import { readFileSync } from 'node:fs';
       const now = Date.now;
       let [aheadMs, readAt] = [0, -1000];
       Date.now = () => {
         if (performance.now() - readAt > 50) {
           aheadMs = Number(readFileSync(${JSON.stringify(clockFile)}, 'utf8'));
           readAt = performance.now();
         }
         return now() + aheadMs;
       };`,
    );
    return new AgingDaemon(place, await startWith(place), clockFile);
  }

  /** `hours`: how far the clock is ahead from now on. */
  async restart({
    hours,
    signal = 'SIGTERM',
  }: {
    readonly hours: number;
    readonly signal?: NodeJS.Signals;
  }): Promise<void> {
    await this.daemon.kill(signal);
    this.setClockAhead(hours);
    this.daemon = await startWith(this.place);
  }

  /** Also while it runs, within 50 ms. */
  setClockAhead(hours: number): void {
    writeFileSync(this.#clockFile, String(hours * 3_600_000));
  }

  /** What a command prints with --json. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the test knows what the command prints
  run<Output>(...args: string[]): Output {
    const { status, stdout, stderr } = runSallyport(this.place, [...args, '--json']);
    assert.equal(status, 0, `${stdout}${stderr}`);
    return JSON.parse(stdout) as Output;
  }

  erasures(): readonly ErasureJson[] {
    return this.run<{ erasures: ErasureJson[] }>('audit', 'erasures').erasures;
  }

  /** The first that fits, once it is done. */
  async waitUntilDone(isMeant: (erasure: ErasureJson) => boolean): Promise<ErasureJson> {
    for (;;) {
      // Not by a command: each is a process of its own.
      const { success } = await this.daemon.call('audit.erasures', {});
      const { erasures = [] } = JSON.parse(success?.outputJson ?? '{}') as { erasures?: ErasureJson[] };
      const found = erasures.find(isMeant);
      if (found?.status === 'done') return found;
      await sleep(200);
    }
  }

  verify(): {
    intact: boolean;
    erasedRecords: string;
    archivedRecords: string;
    erasedRanges: string;
    problems: string[];
  } {
    return JSON.parse(runSallyport(this.place, ['audit', 'verify', '--json']).stdout) as ReturnType<
      AgingDaemon['verify']
    >;
  }

  search(...filter: string[]): number {
    return this.run<{ entries: unknown[] }>('audit', 'search', ...filter).entries.length;
  }

  /** Of the records of a call. */
  payloadsOf(callId: string): string[] {
    const { records } = this.run<{ records: { payloadJson?: string }[] }>('audit', 'show', callId);
    return records.map(({ payloadJson = '' }) => payloadJson);
  }

  /** Files of the gate that hold this text. */
  filesWith(text: string): string[] {
    const { home } = this.place;
    const files = globSync('**', { cwd: home }).filter((name) => {
      return !name.startsWith('workspace') && statSync(join(home, name), { throwIfNoEntry: false })?.isFile();
    });
    return files.filter((name) => readFileSync(join(home, name)).includes(text));
  }
}

function startWith(place: Place): Promise<TestDaemon> {
  return TestDaemon.start(place, { NODE_OPTIONS: `--import=${join(place.folder, 'clock.mjs')}` });
}
