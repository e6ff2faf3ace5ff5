import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { after } from 'node:test';
import { openLeavings } from '../../packages/gateway/src/programs/leavings/leavings.test-kit.ts';
import type { TestContext } from 'node:test';
import type { Json, JsonObject } from '../../packages/contract/src/canonical-json.ts';
import { refuse } from '../../packages/gateway/src/call/refusal.ts';
import type { AnyTool, Progress, ToolContext, ToolUsage } from '../../packages/gateway/src/call/tool.ts';
import { noGrants } from '../../packages/gateway/src/call/verdict.ts';
import type { Grants } from '../../packages/gateway/src/call/verdict.ts';
import type { SchemaRun } from '../../packages/gateway/src/programs/executables.ts';
import { Registry } from '../../packages/gateway/src/registry/registry.ts';
import type { ToolEvent } from '../../packages/gateway/src/programs/tool-event.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { operator, parentOf, sessionOf } from '../../packages/gateway/src/stages/facts.test-kit.ts';
import { openTestStore } from '../../packages/gateway/src/stages/store.test-kit.ts';
import type { Store } from '../../packages/gateway/src/storage/stores.ts';
import { openInstalledTools } from '../../packages/gateway/src/programs/tools/open-installed-tools.ts';
import type { OpenedTools } from '../../packages/gateway/src/programs/tools/open-installed-tools.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';
import { loneWorkspace } from '../../packages/gateway/src/call/workspace.ts';

/** What a call may use and what became of it, where the test cares. */
export interface CallOptions {
  readonly grants?: Partial<Grants>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly workingDirectory?: string;
}

export interface Called {
  readonly output: Json;
  readonly progress: readonly Progress[];
  readonly usage: readonly ToolUsage[];
}

/** One for all tests of a process: starting it takes longer than any of them. */
let sharedSpawner: SpawnerClient | undefined;
after(() => sharedSpawner?.close());

/** A tools folder with real programs, run by a real spawner in the real sandbox. Gone when the test ends. */
export class ToolWorkshop {
  /** Everything; others may enter, as the sandbox does. */
  readonly folder = mkdtempSync(join(tmpdir(), 'sallyport-tools-'));
  readonly bin = join(this.folder, 'tools', 'bin');
  readonly registry = new Registry();
  readonly events: ToolEvent[] = [];
  readonly schemaRuns: SchemaRun[] = [];
  readonly kept: Buffer[] = [];
  /** Names of tools that a rule accepts without asking. */
  accepting: (name: string) => boolean = () => false;
  readonly #spawner: SpawnerClient;
  readonly store: Store;
  #opened: OpenedTools | undefined;

  private constructor(spawner: SpawnerClient, store: Store) {
    this.#spawner = spawner;
    this.store = store;
    chmodSync(this.folder, 0o755);
    mkdirSync(this.bin, { recursive: true });
  }

  static async open(t: TestContext): Promise<ToolWorkshop> {
    const spawner = (sharedSpawner ??= new SpawnerClient());
    const workshop = new ToolWorkshop(spawner, await openTestStore(t));
    t.after(async () => {
      await workshop.#opened?.close();
      rmSync(workshop.folder, { recursive: true, force: true });
    });
    return workshop;
  }

  get tools(): OpenedTools {
    return this.#opened ?? assert.fail('the folder was not looked at');
  }

  /** Looks at the folder for the first time, or as after a restart of the daemon. */
  async start(more: { readonly sdk?: string } = {}): Promise<void> {
    await this.#opened?.close();
    const isFirst = this.#opened === undefined;
    this.#opened = await openInstalledTools({
      registry: this.registry,
      pins: this.store,
      programs: this.#spawner,
      folder: join(this.folder, 'tools'),
      acceptsNew: (name) => this.accepting(name),
      recordEvent: (event) => void this.events.push(event),
      submitStep: () => assert.fail('nothing here calls other tools'),
      recordSchemaRun: (run) => void this.schemaRuns.push(run),
      onError: (error) => assert.fail(error as Error),
      ...more,
    });
    // The user of the sandbox must get there; a home of one's own is as it is.
    for (const name of ['tools', 'tools/store']) chmodSync(join(this.folder, name), 0o755);
    if (isFirst) for (const tool of this.#opened.administration) this.registry.register(tool);
    await this.#opened.start();
    await this.#opened.installed.refreshUntilSettled(new AbortController().signal);
  }

  write(file: string, text: string, mode = 0o755): void {
    const path = join(this.bin, file);
    writeFileSync(path, text);
    chmodSync(path, mode);
  }

  writeYaml(file: string, text: string): void {
    writeFileSync(join(this.folder, 'tools', file), text);
  }

  async look(): Promise<void> {
    await this.tools.installed.refreshUntilSettled(new AbortController().signal);
  }

  /** Waits for what the watcher does by itself. */
  async until(isSo: () => boolean, what: string): Promise<void> {
    for (let waited = 0; waited < 200; waited++) {
      if (isSo()) return;
      await setTimeout(50);
    }
    assert.fail(`never came true: ${what}`);
  }

  statusOf(name: string): string {
    return this.registry.find(name)?.tool.status?.() ?? 'absent';
  }

  async accept(name: string, version?: string): Promise<void> {
    await this.administer('tools.accept', { name, ...(version === undefined ? {} : { version }) });
  }

  async administer(name: string, args: JsonObject): Promise<JsonObject> {
    const { tool, input, output } = this.registry.find(name) ?? assert.fail(name);
    assert.deepEqual(input.check(args), []);
    const result = await tool.run(args, { session: operator, ...this.context([], [], {}) });
    assert.deepEqual(output.check(result), []);
    return result as JsonObject;
  }

  /** As the gate does it: resolved, checked, run, and checked again. */
  async call(name: string, args: JsonObject = {}, options: CallOptions = {}): Promise<Called> {
    const { tool, input, output } = this.registry.find(name) ?? assert.fail(`there is no ${name}`);
    return this.callTool(tool, args, { ...options, checks: { input, output } });
  }

  async callTool(
    tool: AnyTool,
    args: JsonObject,
    options: CallOptions & {
      readonly checks?: Record<'input' | 'output', { check: (value: Json) => readonly object[] }>;
    } = {},
  ): Promise<Called> {
    assert.deepEqual(options.checks?.input.check(args) ?? [], []);
    const progress: Progress[] = [];
    const usage: ToolUsage[] = [];
    const result = await tool.run(args, { session: sessionOf(), ...this.context(progress, usage, options) });
    assert.deepEqual(options.checks?.output.check(result) ?? [], []);
    return { output: result, progress, usage };
  }

  context(progress: Progress[], usage: ToolUsage[], options: CallOptions): Omit<ToolContext, 'session'> {
    const { signal = new AbortController().signal } = options;
    return {
      redact: ownText,
      callId: '01900000-0000-7000-8000-000000000001',
      asParent: parentOf(),
      workingDirectory: options.workingDirectory ?? '/workspace',
      ...{ signal, cancellation: signal },
      paths: { judge: () => undefined },
      grants: { ...noGrants, ...options.grants },
      workspace: loneWorkspace('/workspace'),
      policyKey: 'test',
      programs: this.#spawner,
      content: {
        keep: async (source) => {
          const bytes = Buffer.concat(await Array.fromAsync(source));
          this.kept.push(bytes);
          return { hash: 'cd'.repeat(32), sizeBytes: bytes.length };
        },
        sizeOf: async (hash) => hash.length,
        read: async function* (hash) {
          yield Buffer.from(hash);
        },
      },
      readSecrets: () => options.secrets ?? {},
      reportProgress: (report) => void progress.push(report),
      trashFolder: '/nowhere',
      journal: () => Promise.resolve(),
      completeChange: () => Promise.resolve(false),
      noteChange: () => undefined,
      writing: { judge: () => undefined },
      noteEffect: () => undefined,
      countUsage: (more) => void usage.push(more),
      hosts: { judge: () => refuse('NO_RULE_ALLOWS', 'test-rule', 'The test allows no host.') },
      noteNetwork: () => undefined,
      ...openLeavings(),
    };
  }
}

/** What `--schema` prints. */
export function schemaOf(name: string, more: JsonObject = {}): string {
  const schema = { type: 'object', additionalProperties: true };
  const plain = { name, version: '1.0.0', description: `Does ${name}.`, tags: ['test'], input_schema: schema };
  return JSON.stringify({ ...plain, output_schema: {}, ...more });
}

/** A tool in shell: prints its schema, or does what the body says. */
export function shellTool(name: string, body: string, more: JsonObject = {}): string {
  return `#!/bin/sh\nif [ "$1" = --schema ]; then\ncat <<'END'\n${schemaOf(name, more)}\nEND\nexit 0\nfi\n${body}\n`;
}
