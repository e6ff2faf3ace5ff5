import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { ensureConsoleBuilt } from '../../scripts/console-build.mjs';
import { openChromium } from '../harness/chromium.ts';
import type { TestDaemon } from '../harness/daemon.ts';

/** A real Chromium, and consoles in it. What a page asks for and complains about is kept. */
export class ConsoleBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async open(): Promise<ConsoleBrowser> {
    await ensureConsoleBuilt('test');
    return new ConsoleBrowser(await openChromium());
  }

  /** Logs in as the operator, in a profile of its own. */
  async logIn(daemon: TestDaemon, options: BrowserContextOptions = {}): Promise<ConsoleVisit> {
    const visit = await this.visit(options);
    await visit.page.goto(await makeLink(daemon));
    await visit.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    return visit;
  }

  async visit(options: BrowserContextOptions = {}): Promise<ConsoleVisit> {
    const context = await this.#browser.newContext(options);
    context.setDefaultTimeout(20_000);
    return new ConsoleVisit(context, await context.newPage());
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

export class ConsoleVisit {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly addresses: string[] = [];
  readonly complaints: string[] = [];

  constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    page.on('request', (request) => this.addresses.push(request.url()));
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
  }

  async open(place: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
  }

  /** From then on keys and buttons answer the request. Denying needs no more. */
  async isArmed(): Promise<void> {
    await this.page.locator('.decisions[data-armed=true]').waitFor();
  }

  /** Approving also needs that every line has been in view for a moment, which a slow machine draws late. */
  async canApprove(): Promise<void> {
    await this.page.locator('.decisions[data-armed=true] .decide-once[aria-disabled=false]').waitFor();
  }

  /** What the browser keeps of the login. */
  async readCredential(): Promise<{ readonly token: string; readonly sessionId: string }> {
    const kept = await this.page.evaluate<string>(`localStorage.getItem('sallyport.credential')`);
    return JSON.parse(kept) as { token: string; sessionId: string };
  }

  close(): Promise<void> {
    return this.context.close();
  }
}

export async function makeLink(daemon: TestDaemon): Promise<string> {
  const { success, ...problem } = await daemon.call('console.link', {});
  if (success === undefined) throw new Error(JSON.stringify(problem));
  return (JSON.parse(success.outputJson) as { link: string }).link;
}
