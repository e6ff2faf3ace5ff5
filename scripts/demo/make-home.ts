import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { delimiter, join } from 'node:path';
import { executeTool, GateClient } from '@sallyport/contract/client';
import { overHttp } from '@sallyport/contract/http-transport';
import type { ExecuteToolRequestJson, ExecuteToolResponseJson } from '@sallyport/contract';
import { describeHome, readConfig, startDaemon } from '../../packages/gateway/src/index.ts';
import { root } from '../workspace.ts';
import { beginAt, realNowMs, setClock } from './clock.ts';
import { writeProject } from './project.ts';
import { agents, mostWithPrograms, planWeek } from './week.ts';
import type { AgentName, Decision, PlannedCall } from './week.ts';

export interface DemoOptions {
  /** An empty or absent folder: the home and the project come into it. */
  readonly folder: string;
  readonly calls: number;
  /** More requests that wait at the end, besides those of the week. */
  readonly pending: number;
  readonly onProgress: (done: number, all: number) => void;
}

export interface DemoPlace {
  readonly home: string;
  readonly workspace: string;
}

const weekMs = 7 * 86_400_000;
const minuteMs = 60_000;
/** Of one session; the rules allow no more. */
const mostPending = 1000;
/** Calls of a very long week, which would take an hour one by one. */
const mostAtOnce = 24;
const moreRules = `
  - id: shell-checks
    effect: allow
    tools: [shell.run]
    commands: ['node --version', 'node --test *']
    paths: ['$WORKSPACE/**']
    approval: waived
    grants: { read: ['$WORKSPACE'] }
    reason: Tests run in the sandbox.
  - id: tickets-read
    effect: allow
    tools: [tickets.search_tickets, tickets.get_ticket]
    origins: [upstream]
    approval: waived
  - id: tickets-change
    effect: require_approval
    tools: [tickets.create_ticket, tickets.comment]
    origins: [upstream]
    reason: Customers read the tickets.
  - id: no-exports
    effect: deny
    tools: [files.write]
    paths: ['$WORKSPACE/tmp/**']
    shadow: true
    reason: Reports belong in the build folder.
`;

/**
 * Fills a fresh home with a week of work of six agents. Every call goes through a real gate in this process, whose clock
 * is moved on from call to call; \`clock.ts\` must have been loaded before everything else. Resolves when that gate has stopped.
 */
export async function makeDemoHome({ folder, calls, pending, onProgress }: DemoOptions): Promise<DemoPlace> {
  const place = { home: join(folder, 'home'), workspace: join(folder, 'harbour') };
  mkdirSync(place.workspace, { recursive: true });
  writeProject(place.workspace);
  writeRules(place.home, pending);
  const endMs = realNowMs();
  beginAt(endMs - weekMs - 10 * minuteMs);
  const daemon = await startDaemon(
    readConfig({
      ...process.env,
      SALLYPORT_HOME: place.home,
      SALLYPORT_WORKSPACE: place.workspace,
      SALLYPORT_PORT: '0',
    }),
  );
  const { operatorSocket, operatorCredentialFile } = describeHome(place.home);
  const url = new URL(daemon.address);
  const operator = new GateClient(overHttp({ path: operatorSocket }, { keepAlive: true }), () =>
    readFileSync(operatorCredentialFile, 'utf8').trim(),
  );
  try {
    const asOperator = (name: string, input: object) => confirmed(operator, name, input);
    await addUpstream(asOperator, place);
    const clients = new Map<string, GateClient>();
    const open = async (agent: string): Promise<GateClient> => {
      const token = await openSession(asOperator, agent, calls);
      const target = { host: url.hostname, port: Number(url.port) };
      return new GateClient(overHttp(target, { keepAlive: true }), () => token);
    };
    for (const agent of agents) clients.set(agent, await open(agent));
    const demo = new Demo(clients, operator);
    await demo.play(planWeek(endMs, calls), onProgress);
    setClock(endMs - 6 * minuteMs);
    await addPeople(asOperator);
    await demo.leavePending();
    await demo.crowd(pending, open);
    for (const client of clients.values()) client.close();
  } finally {
    operator.close();
    await daemon.stop('the demonstration');
  }
  return place;
}

/** A gate whose people look in a few times a day, with room for what waits. */
function writeRules(home: string, pending: number): void {
  const { rulesFolder } = describeHome(home);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  cpSync(join(root, 'config/governance'), rulesFolder, { recursive: true });
  const edit = (file: string, change: (text: string) => string): void => {
    const path = join(rulesFolder, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  };
  edit('tools.yaml', (text) => `${text.trimEnd()}\n${moreRules}`);
  edit('limits.yaml', (text) =>
    text
      .replace('expire_seconds: 300', 'expire_seconds: 28800')
      .replace('remind_seconds: 180', 'remind_seconds: 14400')
      .replace('max_pending: 20', `max_pending: ${Math.min(mostPending, Math.max(50, pending + 20))}`)
      .replace('per_minute: 600', 'per_minute: 6000')
      .replaceAll('per_hour: 12000', 'per_hour: 100000')
      .replace('refuse_at: 200', 'refuse_at: 1000')
      .replace('delay_at: 30', 'delay_at: 900')
      .replace('refuse_changes_at: 5', 'refuse_changes_at: 500')
      .replace('  at: 100', '  at: 1000'),
  );
}

type AsOperator = (name: string, input: object) => Promise<ExecuteToolResponseJson>;

/** What an operator does: it is shown, and confirmed as it was shown. */
async function confirmed(gate: GateClient, name: string, input: object): Promise<ExecuteToolResponseJson> {
  const call = { name, inputJson: JSON.stringify(input) };
  const answer = await executeTool(gate, call);
  const binding = answer.denied?.approval?.binding;
  return answer.denied?.rationaleCode === 'APPROVAL_REQUIRED' && binding !== undefined
    ? executeTool(gate, { ...call, confirmBinding: binding })
    : answer;
}

interface Told {
  readonly token?: string;
  readonly pendingSha256?: string;
  readonly pending?: number;
}

function outputOf(answer: ExecuteToolResponseJson): Told {
  const { outputJson } = answer.success ?? {};
  if (outputJson === undefined) throw new Error(`the demonstration stopped: ${JSON.stringify(answer)}`);
  return JSON.parse(outputJson) as Told;
}

async function openSession(asOperator: AsOperator, agent: string, calls: number): Promise<string> {
  const week = 7 * 24 * 60;
  const limits: Readonly<Record<string, object>> = {
    builder: { max_calls: Math.max(40, Math.round(calls * 0.46)) },
    scout: { max_calls: calls },
    'release-bot': { expires_in_minutes: week + 55 },
    'docs-writer': { expires_in_minutes: week + 20 * 60, max_calls: Math.max(40, Math.round(calls * 0.2)) },
  };
  const answer = await asOperator('sessions.create', { agent, ...limits[agent] });
  return outputOf(answer).token ?? '';
}

async function addUpstream(asOperator: AsOperator, { workspace }: DemoPlace): Promise<void> {
  const server = join(workspace, '..', 'tickets-server.mjs');
  cpSync(join(import.meta.dirname, 'tickets-server.mjs'), server);
  outputOf(await asOperator('upstreams.add', { name: 'tickets', command: [findNode(), server], read: [server] }));
  for (let attempt = 0; attempt < 100; attempt++) {
    const shown = outputOf(await asOperator('upstreams.show', { name: 'tickets' }));
    if ((shown.pending ?? 0) > 0) {
      outputOf(await asOperator('upstreams.accept', { name: 'tickets', sha256: shown.pendingSha256 }));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The upstream of the demonstration did not start.');
}

/** No program sees the gate's own, which is the first on the path here. */
function findNode(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.startsWith(root));
  return folders.map((folder) => join(folder, 'node')).find((file) => existsSync(file)) ?? 'node';
}

async function addPeople(asOperator: AsOperator): Promise<void> {
  for (const name of ['mara', 'tomas']) outputOf(await asOperator('people.add', { name }));
  outputOf(await asOperator('teams.put', { name: 'harbour', senior: 'mara' }));
}

/** Plays calls one after the other, each at its time, and answers those that wait. */
class Demo {
  readonly #clients: Map<string, GateClient>;
  readonly #operator: GateClient;
  readonly #traces = new Map<number, string>();

  constructor(clients: Map<string, GateClient>, operator: GateClient) {
    this.#clients = clients;
    this.#operator = operator;
  }

  async play(planned: readonly PlannedCall[], onProgress: DemoOptions['onProgress']): Promise<void> {
    for (let from = 0, together = 1; from < planned.length; from += together) {
      together = from < mostWithPrograms ? 1 : mostAtOnce;
      const calls = planned.slice(from, from + together);
      setClock(calls[0]?.atMs ?? 0);
      // The calls of one piece of work follow each other.
      const runs = Map.groupBy(calls, ({ run }) => run);
      await Promise.all(runs.values().map((run) => this.#makeAll(run)));
      onProgress(from, planned.length);
    }
    onProgress(planned.length, planned.length);
  }

  async #makeAll(calls: readonly PlannedCall[]): Promise<void> {
    for (const call of calls) await this.#make(call);
  }

  /** Requests of the last minutes that nobody has answered yet, of every kind that there is. */
  async leavePending(): Promise<void> {
    const ask = (agent: AgentName, tool: string, input: object) =>
      this.#send(agent, { name: tool, inputJson: JSON.stringify(input) });
    await ask('builder', 'files.write', {
      path: '.vscode/tasks.json',
      content:
        '{\n  "version": "2.0.0",\n  "tasks": [{ "label": "test", "type": "shell", "command": "npm test" }]\n}\n',
    });
    await ask('builder', 'files.delete', { path: 'tmp/export-10.csv' });
    // Staging runs at once; the commit asks, and shows what it would record.
    await ask('release-bot', 'git.add', { args: ['src', 'docs'] });
    await ask('release-bot', 'git.commit', {
      args: ['-m', 'Explain the berths', '--', 'docs/notes-1.md', 'docs/notes-2.md'],
    });
    // Only people who run the gate may do this: an anomaly.
    await ask('scout', 'secrets.list', {});
    await ask('docs-writer', 'tickets.create_ticket', {
      title: 'Explain the berth numbers on the start page',
      body: 'Visitors ask at the pier.\nA map would help.',
      priority: 'normal',
      labels: ['docs', 'visitors'],
      estimate_hours: 2,
      notify_team: false,
    });
    for (const agent of ['scout', 'reviewer', 'tester'] as const) {
      await ask(agent, 'files.move_glob', { from: 'tmp', patterns: ['export-*.csv'], to: 'docs' });
    }
  }

  /** So many more, of as many workers as that takes. */
  async crowd(more: number, open: (agent: string) => Promise<GateClient>): Promise<void> {
    const ask = (agent: string, at: number): Promise<ExecuteToolResponseJson> => {
      const input = { path: `.vscode/many/${at}.json`, content: `${at}\n`, create_parents: true };
      return this.#send(agent, { name: 'files.write', inputJson: JSON.stringify(input) });
    };
    for (let from = 0; from < more; from += mostAtOnce) {
      const agent = `worker-${1 + Math.floor(from / (mostPending - 2 * mostAtOnce))}`;
      if (!this.#clients.has(agent)) this.#clients.set(agent, await open(agent));
      const together = Math.min(mostAtOnce, more - from);
      await Promise.all(Array.from({ length: together }, (_, at) => ask(agent, from + at)));
    }
  }

  async #make({ agent, tool, input, run, decision = 'approved' }: PlannedCall): Promise<void> {
    const traceId = this.#traces.get(run) ?? randomBytes(16).toString('hex');
    this.#traces.set(run, traceId);
    const call = { name: tool, inputJson: JSON.stringify(input) };
    const answer = await this.#send(agent, call, traceId);
    const taskId = answer.denied?.approval?.taskId;
    if (taskId !== undefined && decision !== 'expired' && decision !== 'pending') {
      await this.#decide(taskId, decision);
      if (decision === 'approved') await this.#send(agent, { ...call, approvalTaskId: taskId }, traceId);
    }
  }

  async #decide(id: string, decision: Decision): Promise<void> {
    const { approval } = await this.#operator.call('ApprovalService/GetApproval', { id });
    setClock(Date.now() + 40_000);
    const approved = decision === 'approved';
    await this.#operator.call('ApprovalService/DecideApproval', {
      id,
      approved,
      effectSha256: approval?.effectSha256 ?? '',
      note: approved ? '' : 'Not this week. Please open a ticket first.',
      runs: 1,
    });
  }

  async #send(agent: string, call: ExecuteToolRequestJson, traceId?: string): Promise<ExecuteToolResponseJson> {
    const client = this.#clients.get(agent);
    if (client === undefined) throw new Error(`${agent} has no session`);
    const headers = traceId === undefined ? {} : { traceparent: `00-${traceId}-${traceId.slice(0, 16)}-01` };
    return executeTool(client, call, { headers });
  }
}
