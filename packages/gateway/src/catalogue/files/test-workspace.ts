import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openLeavings } from '../../programs/leavings/leavings.test-kit.ts';
import type { Code, JsonObject } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import type { Change } from '../../call/journal.ts';
import type { Session } from '../../call/session.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { AnyTool, ContentAccess, Effect, ToolContext } from '../../call/tool.ts';
import { noGrants } from '../../call/verdict.ts';
import { SchemaCheck } from '../../registry/schemas/check-schema.ts';
import { ownText } from '../../call/redacted.ts';
import { loneWorkspace } from '../../call/workspace.ts';

const still = new AbortController().signal;

const nothingSpent = { calls: 0, activeMs: 0, tokens: 0, costMicros: 0 };

/**
 * A workspace on the real disk for tests, with a folder beside it that no tool may touch. The rules: everything in
 * the workspace, except what has `forbidden` in its name.
 */
export class TestWorkspace implements Disposable {
  readonly #base = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-files-')));
  readonly path = join(this.#base, 'workspace');
  readonly outside = join(this.#base, 'outside');
  /** What was written into the journal, and what of it happened. */
  readonly journaled: Change[] = [];
  readonly changes: Change[] = [];
  readonly session: Session = {
    id: randomUUID(),
    principal: 'agent',
    agent: 'tester',
    status: 'active',
    createdAtMs: 0,
    workingDirectory: this.path,
    lease: { id: randomUUID(), tools: ['*'], grantedAtMs: 0, budget: {}, spent: nothingSpent },
    budget: {},
    spent: nothingSpent,
  };
  readonly context: ToolContext;
  /** What was kept, by a stand-in for its hash. */
  readonly kept = new Map<string, Buffer>();
  readonly content: ContentAccess = {
    keep: async (source) => {
      const bytes = Buffer.concat(await Array.fromAsync(source, (chunk) => Buffer.from(chunk)));
      const hash = createHash('sha256').update(bytes).digest('hex');
      this.kept.set(hash, bytes);
      return { hash, sizeBytes: bytes.length };
    },
    sizeOf: async (hash) => this.#findKept(hash).length,
    read: (hash) => this.#readKept(hash),
  };
  constructor({ trashFolder = join(this.#base, 'trash') }: { readonly trashFolder?: string } = {}) {
    mkdirSync(this.path);
    mkdirSync(this.outside);
    writeFileSync(join(this.outside, 'secret.txt'), 'secret');
    this.context = {
      redact: ownText,
      session: this.session,
      callId: randomUUID(),
      asParent: {
        ...{ callId: randomUUID(), sessionId: this.session.id, traceId: '' },
        ...{ door: 'tcp', source: '', taskId: '', correlationId: '', depth: 0 },
      },
      workingDirectory: this.path,
      workspace: loneWorkspace(this.path),
      ...{ signal: still, cancellation: still },
      paths: {
        judge: (path) => {
          const isAllowed = (path === this.path || path.startsWith(`${this.path}/`)) && !path.includes('forbidden');
          return isAllowed ? undefined : refuse('NO_RULE_ALLOWS', 'test-rule', 'The test allows its workspace only.');
        },
      },
      grants: noGrants,
      policyKey: '',
      programs: { run: () => Promise.reject(new Error('file tools run no programs')) },
      content: this.content,
      readSecrets: () => ({}),
      reportProgress: () => undefined,
      trashFolder,
      journal: async (...changes) => void this.journaled.push(...changes),
      completeChange: () => Promise.resolve(false),
      noteChange: (change) => this.changes.push(change),
      writing: { judge: (path, access) => this.context.paths.judge(path, access) },
      noteEffect: () => undefined,
      countUsage: () => undefined,
      hosts: { judge: () => refuse('NO_RULE_ALLOWS', 'test-rule', 'The test allows no host.') },
      noteNetwork: () => undefined,
      ...openLeavings(),
    };
  }

  async *#readKept(hash: string): AsyncGenerator<Buffer> {
    await Promise.resolve();
    const bytes = this.#findKept(hash);
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
  }

  #findKept(hash: string): Buffer {
    const bytes = this.kept.get(hash);
    if (bytes === undefined) throw new ToolFailure('NOT_FOUND', 'There is no such content.');
    return bytes;
  }

  at(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  put(name: string, content: string | Buffer = ''): string {
    mkdirSync(dirname(this.at(name)), { recursive: true });
    writeFileSync(this.at(name), content);
    return this.at(name);
  }

  /** The bytes that a change keeps in the trash. */
  keptText(change: Change | undefined): string {
    return readFileSync(join(this.context.trashFolder, String(change?.kept)), 'utf8');
  }

  text(name: string): string {
    return readFileSync(this.at(name), 'utf8');
  }

  /** Calls a tool as the gate does: defaults and schema, claim and rules, run, schema of the result. */
  async call(tool: AnyTool, given: JsonObject, context: Partial<ToolContext> = {}): Promise<JsonObject> {
    const args = this.#check(tool, given);
    const output = await tool.run(args, { ...this.context, ...context });
    // As it reaches the caller: nothing but JSON.
    const answer = JSON.parse(JSON.stringify(output)) as JsonObject;
    assert.deepEqual(checksOf(tool).output.check(answer), []);
    assert.doesNotMatch(tool.summarize(args, output), /\n|undefined|NaN/);
    return answer;
  }

  preview(tool: AnyTool, given: JsonObject, context: Partial<ToolContext> = {}): Promise<Effect> {
    return tool.preview(this.#check(tool, given), { ...this.context, ...context });
  }

  /** Names of what the outside folder holds, to see that nothing was added or taken. */
  outsideNames(): readonly string[] {
    return readdirSync(this.outside);
  }

  [Symbol.dispose](): void {
    rmSync(this.#base, { recursive: true });
  }

  #check(tool: AnyTool, given: JsonObject): JsonObject {
    const args = structuredClone(given);
    assert.deepEqual(checksOf(tool).input.check(args), []);
    for (const { path, access } of tool.claim(args, this.session).paths) {
      const refusal = this.context.paths.judge(path, access);
      if (refusal !== undefined) throw new ToolRefused(refusal);
    }
    return args;
  }
}

const compiled = new Map<AnyTool, { readonly input: SchemaCheck; readonly output: SchemaCheck }>();

/** Compiling a schema takes longer than most tests. */
function checksOf(tool: AnyTool): { readonly input: SchemaCheck; readonly output: SchemaCheck } {
  const { inputSchema, outputSchema } = tool.definition;
  const checks = compiled.get(tool) ?? {
    input: new SchemaCheck(inputSchema, 'arguments'),
    output: new SchemaCheck(outputSchema, 'result'),
  };
  compiled.set(tool, checks);
  return checks;
}

/** For `assert.rejects`: the call ends with this code, as a refusal or as a failure of the tool. */
export function endsWith(code: Code, message = /./): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof ToolFailure || error instanceof ToolRefused, String(error));
    assert.equal(error instanceof ToolFailure ? error.code : error.refusal.code, code);
    assert.match(error.message, message);
    return true;
  };
}

export function countDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Whether file modes bind this process. They do not bind root, unless it gave that right away. */
export function obeysModes(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-modes-'));
  const file = join(folder, 'closed');
  writeFileSync(file, '', { mode: 0 });
  try {
    readFileSync(file);
    return false;
  } catch {
    return true;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
