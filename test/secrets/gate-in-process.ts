import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { readConfig } from '../../packages/gateway/src/daemon/config.ts';
import { startDaemon } from '../../packages/gateway/src/daemon/start.ts';
import { Database } from '../../packages/gateway/src/storage/sqlite/database.ts';
import type { Daemon } from '../../packages/gateway/src/daemon/start.ts';
import { environmentOf, newPlace } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { postText } from '../harness/post-json.ts';
import type { JsonReply } from '../harness/post-json.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface ShownTool {
  readonly name: string;
  readonly properties: readonly string[];
}

/** The whole daemon inside this process, asked through its real doors. */
export class GateInProcess {
  readonly place: Place;
  readonly #daemon: Daemon;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });
  #token = '';
  #recordsRead = 0;
  /** By file, how much of it. */
  readonly #logRead = new Map<string, number>();

  private constructor(place: Place, daemon: Daemon) {
    this.place = place;
    this.#daemon = daemon;
  }

  static async open(environment: Record<string, string> = {}): Promise<GateInProcess> {
    const place = liftLimits(newPlace());
    const quarantine = 'quarantine: { at: 1000000, window_minutes: 1, denied: 1, error: 0, timeout: 0 }\n';
    appendFileSync(join(place.home, 'governance', 'limits.yaml'), quarantine);
    mkdirSync(join(place.workspace, '.vscode'));
    const gate = new GateInProcess(place, await startDaemon(readConfig(environmentOf(place, environment))));
    const { json } = await gate.ask('operator', { name: 'sessions.create', inputJson: '{"agent":"leaky"}' });
    const { outputJson } = (json as { success: { outputJson: string } }).success;
    gate.#token = (JSON.parse(outputJson) as { token: string }).token;
    gate.readNews();
    return gate;
  }

  get address(): URL {
    return new URL(this.#daemon.address);
  }

  /** Of the agent. */
  get token(): string {
    return this.#token;
  }

  /** What `/metrics` says now. */
  async scrape(): Promise<string> {
    const token = readFileSync(join(this.place.home, 'credentials', 'metrics'), 'utf8').trim();
    const response = await fetch(new URL('/metrics', this.address), { headers: { authorization: `Bearer ${token}` } });
    return response.text();
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await this.#daemon.stop('the test');
    rmSync(this.place.folder, { recursive: true, force: true });
  }

  async learn(value: string): Promise<void> {
    const { json } = await this.ask('operator', {
      name: 'secrets.set',
      inputJson: JSON.stringify({ name: 'S', value }),
    });
    if (!('success' in (json as Fields))) throw new Error(JSON.stringify(json));
  }

  async listTools(): Promise<ShownTool[]> {
    const { json } = await this.post('operator', '/sallyport.v1.ToolService/ListAvailableTools', '{}');
    const { tools } = json as { tools: { name: string; inputSchemaJson: string }[] };
    return tools.map(({ name, inputSchemaJson }) => {
      const { properties = {} } = JSON.parse(inputSchemaJson) as { properties?: Fields };
      return { name, properties: Object.keys(properties) };
    });
  }

  /** A governed call over Connect. */
  ask(who: 'operator' | 'agent', body: Fields): Promise<JsonReply> {
    return this.post(who, '/sallyport.v1.ToolService/ExecuteTool', JSON.stringify(body));
  }

  post(who: 'operator' | 'agent', path: string, text: string): Promise<JsonReply> {
    const { hostname: host, port } = new URL(this.#daemon.address);
    const { home } = this.place;
    const socketPath = join(home, 'run', 'operator', 'sallyport.sock');
    const operator = readFileSync(join(home, 'credentials', 'operator'), 'utf8').trim();
    const target = who === 'operator' ? { socketPath } : { host, port };
    return postText({ ...target, agent: this.#agent, path }, text, who === 'operator' ? operator : this.#token);
  }

  /** What the audit log, as it is on disk, the daemon's own log and the events of calls have got since the last time. */
  readNews(): { readonly records: string[]; readonly log: string } {
    const database = Database.openForReading(join(this.place.home, 'sallyport.db'));
    const stored = database.prepare('SELECT payload FROM records WHERE position >= ? ORDER BY position');
    const records = stored.all(this.#recordsRead).map(({ payload }) => String(payload));
    database.close();
    this.#recordsRead += records.length;
    const news = ['daemon.log', 'calls.log'].map((name) => {
      const log = readFileSync(join(this.place.home, 'log', name), 'utf8');
      const unread = log.slice(this.#logRead.get(name) ?? 0);
      this.#logRead.set(name, log.length);
      return unread;
    });
    return { records, log: news.join('') };
  }
}
