import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@sallyport/contract';
import type { ProgramRunner } from '../../packages/sandbox/src/program.ts';
import type { AnyTool, ToolContext } from '../../packages/gateway/src/call/tool.ts';
import type { Grants } from '../../packages/gateway/src/call/verdict.ts';
import { gitTools } from '../../packages/gateway/src/catalogue/git/index.ts';
import { SandboxedWorkspace } from '../shell/sandboxed-workspace.ts';

const tools = new Map(gitTools().map((tool) => [tool.definition.name, tool]));

/** A repository with two commits on main and a branch called topic, in the workspace of an agent. */
export class GitWorkspace extends SandboxedWorkspace {
  /** What hostile files of the repository create when git runs them. */
  readonly marker = join(this.base, 'marker');

  constructor(programs: ProgramRunner, grants: Partial<Grants> = {}) {
    super(programs, grants);
    writeFileSync(join(this.base, '.gitconfig'), '[safe]\ndirectory = *\n');
    this.plain('init', '-q', '-b', 'main');
    writeFileSync(this.at('.git/info/exclude'), '/remote.git/\n/copy/\n');
    this.commit('first', { 'a.txt': 'one\n', 'sub/b.txt': 'b\n' });
    this.plain('checkout', '-q', '-b', 'topic');
    this.commit('on topic', { 'topic.txt': 'topic\n' });
    this.plain('checkout', '-q', 'main');
    this.commit('second', { 'a.txt': 'one\ntwo\n' });
  }

  /** Git as a person runs it, with everything that the repository configures. */
  plain(...args: readonly string[]): string {
    const identity = ['-c', 'user.name=Person', '-c', 'user.email=person@example.com'];
    const environment = { PATH: '/usr/bin:/bin', HOME: this.base, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' };
    const { stdout } = spawnSync('/usr/bin/git', ['-C', this.path, ...identity, ...args], {
      env: environment,
      encoding: 'utf8',
      input: '',
      timeout: 20_000,
    });
    this.giveAway();
    return stdout;
  }

  commit(message: string, files: Readonly<Record<string, string>>): void {
    for (const [name, content] of Object.entries(files)) this.put(name, content);
    this.plain('add', '--all');
    this.plain('commit', '-q', '-m', message);
  }

  /** The call of an agent: `diff HEAD -- a.txt`. */
  git(
    command: string,
    { cwd, ...context }: Partial<ToolContext> & { readonly cwd?: string } = {},
  ): Promise<JsonObject> {
    return this.gitWith(command.split(' '), { cwd, ...context });
  }

  gitWith(
    words: readonly string[],
    { cwd, ...context }: Partial<ToolContext> & { readonly cwd?: string | undefined } = {},
  ) {
    const [name, ...args] = words;
    return this.call(this.tool(name ?? ''), { args, ...(cwd === undefined ? {} : { cwd }) }, context);
  }

  tool(name: string): AnyTool {
    return tools.get(`git.${name}`) ?? assert.fail(`there is no git.${name}`);
  }

  configure(text: string, file = '.git/config'): void {
    appendFileSync(this.at(file), `${text}\n`);
  }

  /** A program that leaves the marker and otherwise hands its input on. */
  program(name: string): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\ntouch '${this.marker}'\nexec timeout 0.2 cat\n`, { mode: 0o755 });
    this.giveAway();
    return path;
  }

  /** Whether the marker was there. It is gone afterwards. */
  takeMarker(): boolean {
    const wasThere = existsSync(this.marker);
    rmSync(this.marker, { force: true });
    return wasThere;
  }
}
