import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';

const programsFolder = '/usr/lib/postgresql';
/** PostgreSQL runs neither as root nor as a user without a name. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const patienceMs = 60_000;

/** A real PostgreSQL server of its own, on loopback, gone when it is closed. */
export class PostgresServer implements AsyncDisposable {
  readonly folder: string;
  readonly port: number;
  readonly superuserPassword = 'superuser-password';
  readonly #process: ChildProcess;

  private constructor(folder: string, port: number, child: ChildProcess) {
    this.folder = folder;
    this.port = port;
    this.#process = child;
  }

  static async start(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-postgres-'));
    const password = join(folder, 'password');
    writeFileSync(password, 'superuser-password\n');
    chmodSync(folder, 0o755);
    if (user.uid !== undefined) for (const path of [folder, password]) chownSync(path, user.uid, user.gid);
    const data = join(folder, 'data');
    const options = ['--no-sync', '--locale=C', '--encoding=UTF8', '--username=postgres', '--auth=scram-sha-256'];
    execFileSync(findProgram('initdb'), [...options, `--pwfile=${password}`, '-D', data], { ...user, cwd: folder });
    const port = await findPort();
    const settings = ['fsync=off', 'listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories='];
    const child = spawn(findProgram('postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
      ...user,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    const server = new PostgresServer(folder, port, child);
    await server.#waitUntilReady();
    return server;
  }

  /** Runs SQL as the superuser, all statements of it, and returns the rows of the last. */
  async administer(sql: string, database = 'postgres'): Promise<readonly unknown[][]> {
    const login = { host: '127.0.0.1', port: this.port, user: 'postgres', password: this.superuserPassword, database };
    const client = new pg.Client(login);
    await client.connect();
    try {
      const answer: unknown = await client.query({ text: sql, rowMode: 'array' });
      const results = (Array.isArray(answer) ? answer : [answer]) as readonly { readonly rows: unknown[][] }[];
      return results.at(-1)?.rows ?? [];
    } finally {
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGQUIT');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #waitUntilReady(): Promise<void> {
    const endsAtMs = Date.now() + patienceMs;
    for (;;) {
      try {
        await this.administer('SELECT 1');
        return;
      } catch (error) {
        if (Date.now() > endsAtMs || this.#process.exitCode !== null) throw error;
        await setTimeout(50);
      }
    }
  }
}

function findProgram(name: string): string {
  const versions = existsSync(programsFolder) ? readdirSync(programsFolder) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  assert.ok(newest, 'PostgreSQL is missing; install the Debian package postgresql');
  return join(programsFolder, newest, 'bin', name);
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
