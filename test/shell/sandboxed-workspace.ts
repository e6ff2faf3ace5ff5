import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openLeavings } from '../../packages/gateway/src/programs/leavings/leavings.test-kit.ts';
import type { JsonObject } from '@sallyport/contract';
import type { ProgramRunner } from '../../packages/sandbox/src/program.ts';
import { refuse } from '../../packages/gateway/src/call/refusal.ts';
import type { Session } from '../../packages/gateway/src/call/session.ts';
import { ToolRefused } from '../../packages/gateway/src/call/tool.ts';
import type { AnyTool, Resources, ToolContext, Effect } from '../../packages/gateway/src/call/tool.ts';
import { noGrants } from '../../packages/gateway/src/call/verdict.ts';
import type { Grants } from '../../packages/gateway/src/call/verdict.ts';
import { SchemaCheck } from '../../packages/gateway/src/registry/schemas/check-schema.ts';
import { parentOf } from '../../packages/gateway/src/stages/facts.test-kit.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';
import { loneWorkspace } from '../../packages/gateway/src/call/workspace.ts';

const still = new AbortController().signal;

const nothingSpent = { calls: 0, activeMs: 0, tokens: 0, costMicros: 0 };
/** The owner of the workspace when the tests run as root: programs of root run as the owner of what they see. */
const owner = 65_530;

/**
 * A workspace for programs, with a folder beside it that no rule allows. The rules: everything in the workspace, except
 * that what has `forbidden` in its name cannot be read, and what has `settled` in its name cannot be changed.
 */
export class SandboxedWorkspace implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-programs-')));
  readonly path = join(this.base, 'workspace');
  readonly outside = join(this.base, 'outside');
  readonly session: Session = {
    id: randomUUID(),
    principal: 'agent',
    agent: 'Ada Lovelace',
    status: 'active',
    createdAtMs: 0,
    workingDirectory: this.path,
    lease: { id: randomUUID(), tools: ['*'], grantedAtMs: 0, budget: {}, spent: nothingSpent },
    budget: {},
    spent: nothingSpent,
  };
  readonly context: ToolContext;
  readonly kept = new Map<string, Buffer>();

  constructor(programs: ProgramRunner, grants: Partial<Grants> = {}) {
    for (const folder of [this.path, this.outside]) mkdirSync(folder);
    writeFileSync(join(this.outside, 'secret.txt'), 'secret');
    this.context = {
      redact: ownText,
      session: this.session,
      callId: randomUUID(),
      asParent: parentOf({ sessionId: this.session.id }),
      workingDirectory: this.path,
      ...{ signal: still, cancellation: still },
      paths: {
        judge: (path, access) => {
          const isInside = path === this.path || path.startsWith(`${this.path}/`);
          const isKept = path.includes('forbidden') || (access === 'write' && path.includes('settled'));
          if (isInside && !isKept) return undefined;
          return refuse('NO_RULE_ALLOWS', 'test-rule', 'The test allows its workspace only.');
        },
      },
      grants: { ...noGrants, ...grants },
      workspace: loneWorkspace('/workspace'),
      policyKey: 'test',
      programs,
      content: {
        keep: async (source) => {
          const bytes = Buffer.concat(await Array.fromAsync(source));
          const hash = `hash-${this.kept.size}`;
          this.kept.set(hash, bytes);
          return { hash, sizeBytes: bytes.length };
        },
        sizeOf: () => assert.fail('nothing is read'),
        read: () => assert.fail('nothing is read'),
      },
      readSecrets: () => ({}),
      reportProgress: () => undefined,
      trashFolder: join(this.base, 'trash'),
      journal: () => Promise.resolve(),
      completeChange: () => Promise.resolve(false),
      noteChange: () => undefined,
      writing: { judge: () => undefined },
      noteEffect: () => undefined,
      countUsage: () => undefined,
      hosts: { judge: () => refuse('NO_RULE_ALLOWS', 'test-rule', 'The test allows no host.') },
      noteNetwork: () => undefined,
      ...openLeavings(),
    };
    this.giveAway();
  }

  at(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  put(name: string, content = '', mode = 0o644): string {
    mkdirSync(dirname(this.at(name)), { recursive: true });
    writeFileSync(this.at(name), content, { mode });
    this.giveAway();
    return this.at(name);
  }

  text(name: string): string {
    return readFileSync(this.at(name), 'utf8');
  }

  /** To be called after the test itself put something into the workspace. */
  giveAway(): void {
    if (process.getuid?.() !== 0) return;
    chmodSync(this.base, 0o755);
    for (const entry of ['', ...readdirSync(this.path, { recursive: true, encoding: 'utf8' })]) {
      lchownSync(join(this.path, entry), owner, owner);
    }
    lchownSync(this.base, owner, owner);
  }

  claim(tool: AnyTool, given: JsonObject): Resources {
    return tool.claim(this.#complete(tool, given), this.session);
  }

  preview(tool: AnyTool, given: JsonObject, context: Partial<ToolContext> = {}): Promise<Effect> {
    return tool.preview(this.#complete(tool, given), { ...this.context, ...context });
  }

  /** Calls a tool as the gate does: defaults and schema, claim and rules, run, schema of the result. */
  async call(tool: AnyTool, given: JsonObject, context: Partial<ToolContext> = {}): Promise<JsonObject> {
    const args = this.#complete(tool, given);
    for (const { path, access } of tool.claim(args, this.session).paths) {
      const refusal = this.context.paths.judge(path, access);
      if (refusal !== undefined) throw new ToolRefused(refusal);
    }
    const output = await tool.run(args, { ...this.context, ...context });
    const answer = JSON.parse(JSON.stringify(output)) as JsonObject;
    assert.deepEqual(new SchemaCheck(tool.definition.outputSchema, 'result').check(answer), []);
    assert.doesNotMatch(tool.summarize(args, output), /\n|undefined|NaN/);
    return answer;
  }

  #complete(tool: AnyTool, given: JsonObject): JsonObject {
    const args = structuredClone(given);
    assert.deepEqual(new SchemaCheck(tool.definition.inputSchema, 'arguments').check(args), []);
    return args;
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true });
  }
}
