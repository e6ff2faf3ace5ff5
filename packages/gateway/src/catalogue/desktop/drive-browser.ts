import type * as playwright from 'playwright-core';

/** What the program in the sandbox is told, as JSON on its standard input. */
export interface BrowserTask {
  readonly url: string;
  /** The browser. */
  readonly file: string;
  /** Where it sees Playwright. */
  readonly playwright: string;
  /** Where the gate listens in its network. */
  readonly proxy: string;
  readonly loadMs: number;
  readonly mostCharacters: number;
  readonly screenshot: boolean;
}

/** What it answers, as JSON on its standard output. */
export type BrowserAnswer =
  | { readonly failure: string }
  | {
      readonly url: string;
      readonly title: string;
      /** Absent: the page did not come over HTTP. */
      readonly status?: number;
      readonly text: string;
      readonly characters: number;
      /** PNG in base64. */
      readonly screenshot?: string;
    };

/**
 * The program that drives the browser. Its text is what runs, in a process of its own inside the sandbox: it uses nothing
 * but what is in it.
 */
export async function driveBrowser(): Promise<void> {
  let input = '';
  for await (const chunk of process.stdin) input += String(chunk);
  const task = JSON.parse(input) as BrowserTask;
  const { chromium } = (await import(task.playwright)) as typeof playwright;
  const browser = await chromium.launch({
    executablePath: task.file,
    // The sandbox around it is ours, and lets no other be made in it.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run'],
    proxy: { server: task.proxy, bypass: '<-loopback>' },
    timeout: task.loadMs,
  });
  let answer: BrowserAnswer;
  try {
    const context = await browser.newContext({ acceptDownloads: false, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const response = await page.goto(task.url, { waitUntil: 'load', timeout: task.loadMs });
    const text = String(await page.evaluate('document.body?.innerText ?? ""')).trim();
    const shot = task.screenshot ? await page.screenshot({ timeout: task.loadMs }) : undefined;
    answer = {
      url: page.url(),
      title: await page.title(),
      ...(response === null ? {} : { status: response.status() }),
      text: text.slice(0, task.mostCharacters),
      characters: text.length,
      ...(shot === undefined ? {} : { screenshot: shot.toString('base64') }),
    };
  } catch (error) {
    answer = { failure: error instanceof Error ? error.message : String(error) };
  }
  await browser.close();
  process.stdout.write(JSON.stringify(answer));
}
