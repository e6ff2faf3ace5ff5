import { loneWorkspace } from '../../../packages/gateway/src/call/workspace.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Json, JsonObject } from '@sallyport/contract';
import { openLeavings } from '../../../packages/gateway/src/programs/leavings/leavings.test-kit.ts';
import { Sweeps } from '../../../packages/gateway/src/programs/leavings/sweeps.ts';
import { SpawnerClient } from '../../../packages/sandbox/src/spawner/spawner-client.ts';
import { refuse } from '../../../packages/gateway/src/call/refusal.ts';
import type { Asking, Progress, ToolContext } from '../../../packages/gateway/src/call/tool.ts';
import type { ToolPin } from '../../../packages/gateway/src/storage/stores.ts';
import { Registry } from '../../../packages/gateway/src/registry/registry.ts';
import { openUpstreams } from '../../../packages/gateway/src/upstreams/tools/open-upstreams.ts';
import type { OpenedUpstreams } from '../../../packages/gateway/src/upstreams/tools/open-upstreams.ts';

import { secretsOf } from '../../../packages/gateway/src/upstreams/login/stored-login.ts';
import type { LoginStore, StoredLogin } from '../../../packages/gateway/src/upstreams/login/stored-login.ts';
import type { DecidedRequest } from '../../../packages/gateway/src/upstreams/requests/answer-request.ts';
import { ownText } from '../../../packages/gateway/src/call/redacted.ts';

export const serverScript = join(import.meta.dirname, 'stdio-server.mjs');

export interface UpstreamWorld extends OpenedUpstreams {
  readonly registry: Registry;
  readonly folder: string;
  readonly requests: readonly DecidedRequest[];
  /** What was told to appear nowhere. */
  readonly learned: readonly string[];
  /** The secret parts of every login that was kept. */
  readonly learnedBySaving: readonly string[];
  readonly logins: LoginStore;
  readonly events: string[];
  /** What the calls warned of. */
  readonly warnings: string[];
  readonly spawner: SpawnerClient;
  /** Connects everything whose file was written, and accepts the tools. */
  readonly settle: (name: string, accept?: 'accept') => Promise<void>;
  readonly call: (tool: string, args?: JsonObject, options?: Partial<CallOptions>) => Promise<Json>;
}

interface CallOptions {
  readonly signal: AbortSignal;
  /** Who made the call, as far as they can be asked. */
  readonly asking: Asking;
  readonly onProgress: (progress: Progress) => void;
  readonly traceparent: string;
}

export interface WorldOptions {
  readonly secrets?: Readonly<Record<string, string>>;
  readonly protects?: (path: string) => boolean;
  readonly spawner?: SpawnerClient;
  /** Whether a rule takes new tools in. Absent: none does. */
  readonly acceptsNew?: (tool: string) => boolean;
  /** Absent: no rule allows any request of a server. */
  readonly judge?: Asking['judge'];
}

const denyAll: Asking['judge'] = () => ({ effect: 'deny', rule: { id: 'default' }, reason: 'No rule allows it.' });

/** The upstream servers of one folder, with a spawner and a registry of their own. Files: contents by name. */
export async function openWorld(
  context: TestContext,
  files: Readonly<Record<string, JsonObject>>,
  { secrets = {}, protects = () => false, judge = denyAll, ...options }: WorldOptions = {},
): Promise<UpstreamWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-upstream-'));
  const spawner = options.spawner ?? new SpawnerClient({ enforcement: 'sampled' });
  const registry = new Registry();
  const requests: DecidedRequest[] = [];
  const learned: string[] = [];
  const learnedBySaving: string[] = [];
  const stored = new Map<string, StoredLogin>();
  const logins: LoginStore = {
    read: (name) => stored.get(name),
    save: async (name, login) => {
      learnedBySaving.push(...secretsOf(login));
      stored.set(name, login);
    },
    remove: async (name) => void stored.delete(name),
  };
  const events: string[] = [];
  const warnings: string[] = [];
  const pins = new Map<string, ToolPin>();
  for (const [name, contents] of Object.entries(files)) writeUpstream(folder, name, contents);
  const opened = openUpstreams({
    registry,
    folder,
    packagesFolder: join(folder, 'packages'),
    programs: spawner,
    version: '0.0.0',
    redact: ownText,
    openRedaction: () => ({ add: ownText, end: () => ownText('') }),
    protectedPaths: { explain: (path) => (protects(path) ? 'is protected' : undefined) },
    readSecret: (name) => secrets[name] ?? fail(`no secret ${name}`),
    acceptsNew: (name) => options.acceptsNew?.(name) === true,
    recordEvent: ({ event, name }) => events.push(`${event} ${name}`),
    pins: {
      pinTool: async (pin) => void pins.set(pin.name, pin),
      unpinTool: async (name) => pins.delete(name),
      listToolPins: () => [...pins.values()],
    },
    learn: (secret) => learned.push(secret),
    logins,
    onRequest: (request) => requests.push(request),
    judgeRequest: judge,
    onTrouble: () => undefined,
    onNetwork: () => undefined,
    onWithheld: (_upstream, { paths }) => events.push(...paths.map((path) => `set_aside ${path}`)),
    sweeps: new Sweeps(),
    leavings: () => openLeavings().leavings,
    onLoginLost: (upstream) => events.push(`login_lost ${upstream}`),
    onError: (error) => {
      throw error;
    },
  });
  for (const tool of opened.administration) registry.register(tool);
  void opened.start();
  context.after(async () => {
    await opened.close();
    if (options.spawner === undefined) await spawner.close();
    rmSync(folder, { recursive: true });
  });
  return {
    ...{ ...opened, registry, folder, requests, learned, learnedBySaving, logins, events, warnings, spawner },
    settle: async (name, accept) => {
      const upstream = opened.upstreams.find(name) ?? fail(`no upstream ${name}`);
      await upstream.connect();
      await opened.installed.refresh();
      if (accept === undefined) return;
      for (const tool of opened.installed.all.filter(({ isAccepted }) => !isAccepted)) {
        if (tool.definition.name.startsWith(`${name}.`)) await opened.installed.accept(tool, 'test');
      }
    },
    call: async (name, args = {}, how = {}) => {
      const { signal = new AbortController().signal, onProgress = () => undefined, asking, traceparent } = how;
      const found = registry.find(name) ?? fail(`no tool ${name}`);
      const output = await found.tool.run(args, {
        ...{ signal, cancellation: signal },
        redact: ownText,
        reportProgress: onProgress,
        countUsage: () => undefined,
        hosts: { judge: () => refuse('NO_RULE_ALLOWS', 'test-rule', 'The test allows no host.') },
        noteNetwork: () => undefined,
        warn: (warning: string) => warnings.push(warning),
        noteEffect: () => undefined,
        session: { agent: 'test' },
        workspace: loneWorkspace(folder),
        callId: 'the-call',
        traceparent,
        ...(asking === undefined ? {} : { asking }),
      } as unknown as ToolContext);
      const violations = found.output.check(output);
      if (violations.length > 0) throw new Error(violations.map(({ message }) => message).join());
      return output;
    },
  };
}

export function writeUpstream(folder: string, name: string, contents: JsonObject): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.yaml`), JSON.stringify(contents));
}

/** The file of a server that misbehaves in one way. */
export function server(behaviour: string, more: JsonObject = {}): JsonObject {
  return { command: ['node', serverScript, behaviour], paths: { read: [serverScript] }, ...more };
}

export function textOf(output: Json): string {
  return (output as { content: readonly { text: string }[] }).content.map(({ text }) => text).join('');
}

function fail(message: string): never {
  throw new Error(message);
}
