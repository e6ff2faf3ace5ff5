import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { NetworkEvent } from '@sallyport/sandbox';
import type { JsonObject } from '@sallyport/contract';
import { judgeHosts } from '../../execution/judge-hosts.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { AnyTool, Effect, ToolContext, ToolUsage } from '../../call/tool.ts';
import { noGrants } from '../../call/verdict.ts';
import type { Question } from '../../call/verdict.ts';
import { ask, rulesOf } from '../../policy/test-world.ts';
import { Redactor } from '../../redaction/redact.ts';
import { TestWorkspace } from '../files/test-workspace.ts';
import { noProviders } from '../providers/provider-settings.ts';
import type { ProviderSettings } from '../providers/provider-settings.ts';
import { webTools } from './index.ts';

export const publicAddress = '93.184.216.34';

export interface WebOptions {
  /** The text of tools.yaml. Absent: every host may be reached with every tool. */
  readonly rules?: string;
  /** What each name leads to, one answer after the other; the last one stays. Absent: a public address. */
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly ca?: string;
  /** Absent: no host is told of spans. */
  readonly isTraced?: (authority: string) => boolean;
  readonly providers?: Partial<ProviderSettings>;
  /** Where connections to public addresses end. Absent: nowhere. */
  readonly server?: { readonly port: number };
}

const everyHost = "  - { id: all, effect: allow, tools: ['*'], approval: waived }";

/**
 * An internet on loopback, behind the real rules and the real egress gate: names lead where the test says, public
 * addresses to the server of the test, and nothing else can be dialled.
 */
export class TestWeb implements Disposable {
  readonly workspace = new TestWorkspace();
  readonly network: NetworkEvent[] = [];
  readonly dialled: string[] = [];
  readonly resolved: string[] = [];
  readonly usage: ToolUsage[] = [];
  readonly redactor = new Redactor();
  readonly tools: readonly AnyTool[];
  readonly #rules;
  readonly #options: WebOptions;

  constructor(options: WebOptions = {}) {
    this.#options = options;
    this.#rules = rulesOf(options.rules ?? everyHost);
    for (const [name, value] of Object.entries(options.secrets ?? {})) this.redactor.learn(value, name);
    this.tools = webTools({
      providers: { current: { ...noProviders, ...options.providers }, problem: undefined },
      readKey: (secret) => options.secrets?.[secret] ?? '',
      hide: this.redactor.hideHeld,
      wayOut: {
        resolve: async (name) => {
          this.resolved.push(name);
          const answers = this.#options.names?.[name] ?? [[publicAddress]];
          const asked = this.resolved.filter((each) => each === name).length;
          return answers[Math.min(asked, answers.length) - 1] ?? [];
        },
        dial: (address, port) => {
          this.dialled.push(`${address} ${port}`);
          const isLoopback = address === '127.0.0.1' || address === '::1';
          const to = isLoopback ? port : this.#options.server?.port;
          if (!isLoopback && address !== publicAddress) throw new Error(`the test would have dialled ${address}`);
          return connect({ host: '127.0.0.1', port: to ?? 1, allowHalfOpen: true });
        },
        ...(options.ca === undefined ? {} : { ca: options.ca }),
        ...(options.isTraced === undefined ? {} : { isTraced: options.isTraced }),
      },
    });
  }

  tool(name: string): AnyTool {
    const found = this.tools.find(({ definition }) => definition.name === name);
    if (found === undefined) throw new Error(`there is no tool ${name}`);
    return found;
  }

  /** As the gate calls it: schema, rules, then the tool with the hosts that the rules judge. */
  async call(name: string, args: JsonObject, more: Partial<ToolContext> = {}): Promise<JsonObject> {
    const tool = this.tool(name);
    return this.workspace.call(tool, args, { ...this.#contextFor(tool, args), ...more });
  }

  preview(name: string, args: JsonObject): Promise<Effect> {
    const tool = this.tool(name);
    return this.workspace.preview(tool, args, this.#contextFor(tool, args));
  }

  #contextFor(tool: AnyTool, args: JsonObject): Partial<ToolContext> {
    const { session } = this.workspace;
    const resources = tool.claim({ headers: {}, ...args }, session);
    const question: Question = { ...ask(tool.definition, []), resources, arguments: args };
    const verdict = this.#rules.judge(question);
    if (verdict.effect === 'deny') {
      throw new ToolRefused(refuse(verdict.code ?? 'RULE_DENIES', verdict.rule, verdict.reason));
    }
    const consented = verdict.effect === 'require_approval';
    const secretsFor = (grants: readonly { name: string; hosts: readonly string[] }[], { host }: { host?: string }) =>
      new Map(
        grants
          .filter(({ hosts }) => host !== undefined && hosts.includes(host))
          .map(({ name }) => [name, this.#options.secrets?.[name] ?? '']),
      );
    return {
      grants: verdict.grants ?? noGrants,
      hosts: judgeHosts({ rules: this.#rules, question, lease: session.lease, consented, secrets: { secretsFor } }),
      noteNetwork: (events) => void this.network.push(...events),
      countUsage: (usage) => void this.usage.push(usage),
    };
  }

  [Symbol.dispose](): void {
    this.workspace[Symbol.dispose]();
  }
}

export interface LocalServer extends AsyncDisposable {
  readonly port: number;
}

export async function serve(answer: RequestListener): Promise<LocalServer> {
  return listen(createServer(answer));
}

export async function listen(server: Server | NetServer): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
