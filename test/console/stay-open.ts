// A console that stays open while agents work: what it keeps in memory, minute by minute. By hand, and for longer than a
// test: node test/console/stay-open.ts --folder FOLDER --minutes 60   (a folder that `npm run demo -- --make-only` made)
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { TestDaemon } from '../harness/daemon.ts';
import { ConsoleBrowser } from './console-browser.ts';
import type { ConsoleVisit } from './console-browser.ts';

/** What a page holds, after its garbage was collected. */
export interface Held {
  readonly heapMegabytes: number;
  /** Also those that are on no page any more, but that something still holds. */
  readonly nodes: number;
  readonly listeners: number;
}

/** Always at the same place, so that two measurements can be compared. */
export async function measureHeld(visit: ConsoleVisit, place = 'home'): Promise<Held> {
  await visit.open(place);
  await visit.page.locator('main h1').waitFor();
  await visit.page.locator('.loading').first().waitFor({ state: 'detached' });
  const client = await visit.context.newCDPSession(visit.page);
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners: listeners } = await client.send('Memory.getDOMCounters');
  await client.detach();
  return { heapMegabytes: Math.round((usedSize / 1024 / 1024) * 100) / 100, nodes, listeners };
}

/** Calls of every kind that a page shows: some are let through, some are denied, some ask and are answered. */
export class BusyAgent {
  readonly #daemon: TestDaemon;
  readonly #token: string;
  #made = 0;

  private constructor(daemon: TestDaemon, token: string) {
    this.#daemon = daemon;
    this.#token = token;
  }

  static async letIn(daemon: TestDaemon): Promise<BusyAgent> {
    return new BusyAgent(daemon, await daemon.newAgent('busy'));
  }

  get made(): number {
    return this.#made;
  }

  /** Some at a time. */
  async makeCalls(count: number): Promise<void> {
    for (let made = 0; made < count; made += 10) {
      await Promise.all(Array.from({ length: Math.min(10, count - made) }, () => this.makeCall()));
    }
  }

  async makeCall(): Promise<void> {
    const at = this.#made++;
    const call = (tool: string, input: object) => this.#daemon.call(tool, input, { token: this.#token });
    if (at % 20 === 7) await call('files.read', { path: '.env' });
    else if (at % 20 === 13) {
      const { denied } = await call('files.write', { path: `.vscode/busy-${at}.json`, content: `${at}\n` });
      const { taskId } = (denied?.approval ?? {}) as { readonly taskId?: string };
      if (taskId !== undefined) await this.#daemon.call('approvals.deny', { task_id: taskId });
      // Another one each time: a call that only repeats itself is refused in the end.
    } else await call('files.search', { path: 'src', content: `word ${at}` });
  }
}

/** The pages that follow what happens. */
const places = ['calls', 'approvals', 'activity', 'audit', 'home'];

export interface StayOptions {
  readonly minutes: number;
  readonly callsPerSecond: number;
  readonly onMinute: (minute: number, held: Held, calls: number) => void;
}

/** Goes from page to page while calls come in, and measures every minute. */
export async function stayOpen(daemon: TestDaemon, visit: ConsoleVisit, options: StayOptions): Promise<void> {
  const { minutes, callsPerSecond, onMinute } = options;
  const agent = await BusyAgent.letIn(daemon);
  let isOver = false;
  const work = (async () => {
    while (!isOver) {
      await agent.makeCall();
      await pause(1000 / callsPerSecond);
    }
  })();
  try {
    onMinute(0, await measureHeld(visit), agent.made);
    for (let minute = 1; minute <= minutes; minute++) {
      for (const place of places) {
        await visit.open(place);
        await pause(60_000 / places.length);
      }
      onMinute(minute, await measureHeld(visit), agent.made);
    }
  } finally {
    isOver = true;
    await work;
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      folder: { type: 'string' },
      minutes: { type: 'string', default: '60' },
      rate: { type: 'string', default: '2' },
    },
  });
  const folder = resolve(values.folder ?? '.');
  const place = { folder, home: join(folder, 'home'), workspace: join(folder, 'harbour') };
  const daemon = await TestDaemon.start(place);
  const browser = await ConsoleBrowser.open();
  try {
    const visit = await browser.logIn(daemon, { viewport: { width: 1440, height: 900 } });
    // An hour on a busy machine has slow minutes.
    visit.context.setDefaultTimeout(600_000);
    await stayOpen(daemon, visit, {
      minutes: Number(values.minutes),
      callsPerSecond: Number(values.rate),
      onMinute: (minute, held, calls) => process.stdout.write(`${JSON.stringify({ minute, calls, ...held })}\n`),
    });
  } finally {
    await browser.close();
    await daemon.kill('SIGTERM');
  }
}
