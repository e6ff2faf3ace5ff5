import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestDaemon } from '../harness/daemon.ts';
import type { RealAgent, Use } from './real-agents.ts';

const sallyport = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
const model = join(import.meta.dirname, 'scripted-model.ts');
export const perRunMs = 240_000;

/**
 * A real agent, a project and a gate. The agent runs in namespaces of its own: there is no network but loopback, with a
 * model that does as it is told, and what is written to /etc stays in a folder of this place.
 */
export class AgentPlace {
  readonly #agent: RealAgent;
  readonly #bin: string;
  readonly daemon: TestDaemon;
  /** The home of the person who works with the agent. */
  readonly user: string;
  readonly workspace: string;
  readonly #folder: string;

  constructor(agent: RealAgent, bin: string, daemon: TestDaemon) {
    this.#agent = agent;
    this.#bin = bin;
    this.daemon = daemon;
    this.#folder = daemon.place.folder;
    this.user = join(this.#folder, 'user');
    this.workspace = daemon.place.workspace;
    for (const name of ['etc', 'etc-work']) mkdirSync(join(this.#folder, name), { recursive: true });
    agent.seed(this.user, this.workspace);
    writeFileSync(join(this.workspace, 'notes.md'), 'first\n');
    writeFileSync(join(this.workspace, '.env'), 'KEY=1\n');
    mkdirSync(join(this.workspace, 'src'), { recursive: true });
  }

  get #environment(): Record<string, string> {
    return {
      PATH: `${this.#bin}:${process.env['PATH'] ?? ''}`,
      HOME: this.user,
      SALLYPORT_HOME: this.daemon.place.home,
    };
  }

  /** Our command line, as the person uses it in the project. What it prints; throws when it fails. */
  cli(...args: readonly string[]): string {
    const [program = '', ...words] = this.#inside('exec "$@"', process.execPath, sallyport, ...args);
    return execFileSync(program, words, { cwd: this.workspace, env: this.#environment, encoding: 'utf8' });
  }

  /** Has the agent use these tools, in a project that it trusts. What it was told about each use. */
  use(...uses: readonly Use[]): Promise<string> {
    return this.useWith({}, ...uses);
  }

  /** `flags`: for the agent. */
  async useWith(
    { flags = '', environment = {} }: { flags?: string; environment?: Readonly<Record<string, string>> },
    ...uses: readonly Use[]
  ): Promise<string> {
    const file = join(this.#folder, 'uses.json');
    const log = join(this.#folder, 'agent.log');
    writeFileSync(file, JSON.stringify(uses));
    rmSync(`${file}.results`, { force: true });
    const [program = '', ...words] = this.#inside(
      `exec 3< <("${process.execPath}" "${model}" "${file}"); MODEL=$!
      read -r port <&3
      ${this.#agent.command(this.#bin)} ${flags} < /dev/null > "${log}" 2>&1; kill $MODEL`,
    );
    const child = spawn(program, words, {
      cwd: this.workspace,
      env: { ...this.#environment, ...this.#agent.environment, ...environment },
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: perRunMs,
    });
    await new Promise((resolve) => child.once('close', resolve));
    if (existsSync(`${file}.results`)) return readFileSync(`${file}.results`, 'utf8');
    return `no result: ${readFileSync(log, 'utf8').slice(-2000)}`;
  }

  async step(what: string, run: () => Promise<void> | void): Promise<void> {
    await run();
    process.stdout.write(`✔ ${this.#agent.name}: ${what}\n`);
  }

  #inside(script: string, ...args: readonly string[]): readonly string[] {
    const layers = `lowerdir=/etc,upperdir=${join(this.#folder, 'etc')},workdir=${join(this.#folder, 'etc-work')}`;
    const prepared = `ip link set lo up && mount -t overlay overlay -o "${layers}" /etc || exit 1\n${script}`;
    return ['unshare', '--net', '--mount', '/bin/bash', '-c', prepared, 'bash', ...args];
  }
}
