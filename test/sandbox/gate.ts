import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Mount } from '../../packages/sandbox/src/program.ts';
import { unprivilegedUser } from '../../packages/sandbox/src/launch/choose-user.ts';
import type { SandboxUser } from '../../packages/sandbox/src/launch/choose-user.ts';
import type { GateAnswer, GateOrder } from './gate-process.ts';

export interface Asked extends Omit<GateOrder, 'id' | 'timeoutMs'> {
  readonly timeoutMs?: number;
}

/** A gate of one user, with a workspace that programs may change and, beside it, what they must never touch. */
export class Gate {
  readonly folder: string;
  readonly workspace: string;
  readonly outside: string;
  /** In a file that the user of the sandbox could read if it were not for the sandbox. */
  readonly secret = `secret-${process.pid}-of-the-machine`;
  /** Under whom confined programs run. */
  readonly user: SandboxUser;
  readonly #process: ChildProcess;
  readonly #answers = new Map<number, (answer: GateAnswer) => void>();
  #lastId = 0;

  private constructor(daemon: SandboxUser, user: SandboxUser) {
    this.user = user;
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-sandbox-')));
    chmodSync(this.folder, 0o755);
    this.workspace = this.makeFolder(join(this.folder, 'work'));
    this.outside = this.makeFolder(join(this.folder, 'outside'));
    this.put(this.secretFile, this.secret, 0o600);
    this.#process = fork(join(import.meta.dirname, 'gate-process.ts'), {
      ...(process.getuid?.() === 0 ? daemon : {}),
      cwd: '/',
      execArgv: [],
      env: { SECRET_OF_THE_DAEMON: this.secret, PATH: '/usr/bin:/bin', HOME: this.folder },
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#process.on('message', (answer: GateAnswer) => this.#answers.get(answer.id)?.(answer));
  }

  static async open(daemon: SandboxUser, user: SandboxUser): Promise<Gate> {
    const gate = new Gate(daemon, user);
    await once(gate.#process, 'message');
    return gate;
  }

  get secretFile(): string {
    return join(this.outside, 'secret.txt');
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  /** The workspace, as a mount that can be changed. */
  get mount(): Mount {
    return { source: this.workspace, target: this.workspace, access: 'write' };
  }

  run({ timeoutMs = 20_000, program }: Asked): Promise<GateAnswer> {
    const id = (this.#lastId += 1);
    const { promise, resolve } = Promise.withResolvers<GateAnswer>();
    this.#answers.set(id, resolve);
    const order = { id, timeoutMs, program: { workingDirectory: this.workspace, mounts: [this.mount], ...program } };
    this.#process.send(order);
    return promise;
  }

  shell(script: string, more: Partial<Asked['program']> = {}): Promise<GateAnswer> {
    return this.run({ program: { argv: ['/bin/sh', '-c', script], ...more } });
  }

  perl(script: string, more: Partial<Asked['program']> = {}): Promise<GateAnswer> {
    return this.run({ program: { argv: ['/usr/bin/perl', '-e', script], ...more } });
  }

  /** Owned by the user of the sandbox, so that nothing but the sandbox protects it. */
  put(path: string, content: string | Uint8Array, mode = 0o644): string {
    this.makeFolder(dirname(path));
    writeFileSync(path, content);
    chmodSync(path, mode);
    if (process.getuid?.() === 0) chownSync(path, this.user.uid, this.user.gid);
    return path;
  }

  makeFolder(path: string): string {
    if (existsSync(path)) return path;
    this.makeFolder(dirname(path));
    mkdirSync(path, { mode: 0o755 });
    if (process.getuid?.() === 0) chownSync(path, this.user.uid, this.user.gid);
    return path;
  }

  /** As when the machine kills the daemon. */
  async kill(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }

  async close(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.send('close');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Nobody's, like that of a person who starts the daemon without privileges. */
const ordinaryUser: SandboxUser = { uid: 54_321, gid: 54_321 };

/** Root's daemon can be tried by root only; an ordinary user's by everybody. */
const kinds =
  process.getuid?.() === 0
    ? ([
        ["root's daemon", { uid: 0, gid: 0 }, unprivilegedUser],
        ["an ordinary user's daemon", ordinaryUser, ordinaryUser],
      ] as const)
    : ([["an ordinary user's daemon", currentUser(), currentUser()]] as const);

type Attempt = (gate: Gate, context: TestContext) => Promise<void>;

/** Declares the tests of a file once for each kind of daemon. */
export function describeAttempts(declare: (attempt: (name: string, body: Attempt) => void) => void): void {
  for (const [name, daemon, user] of kinds) {
    describe(`under ${name}`, () => {
      let gate: Gate;
      before(async () => (gate = await Gate.open(daemon, user)));
      after(() => gate.close());
      declare((title, body) => void test(title, (context) => body(gate, context)));
    });
  }
}

export { kinds as gateKinds };

function currentUser(): SandboxUser {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}
