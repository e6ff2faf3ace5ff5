import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { environmentOf } from '../../harness/daemon.ts';
import type { Place } from '../../harness/daemon.ts';
import { initialize } from './raw-client.ts';
import type { RawMessage } from './raw-client.ts';

const program = join(import.meta.dirname, '../../../packages/cli/bin/sallyport.mjs');

/** `sallyport mcp`, spoken to line by line as an older client does. */
export class Bridge {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  stderr = '';
  #rest = '';

  constructor(
    t: TestContext,
    place: Place,
    token: string,
    args: readonly string[] = [],
    environment: Record<string, string> = {},
  ) {
    this.child = spawn(process.execPath, [program, 'mcp', ...args], {
      env: environmentOf(place, { SALLYPORT_TOKEN: token, ...environment }),
      cwd: place.folder,
    });
    this.child.stdout?.on('data', (data: Buffer) => {
      const lines = (this.#rest + data.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      this.lines.push(...lines);
    });
    this.child.stderr?.on('data', (data: Buffer) => (this.stderr += data.toString()));
    t.after(() => this.child.kill('SIGKILL'));
  }

  send(message: object | string): void {
    this.child.stdin?.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  async answer(id: number | string | null): Promise<RawMessage> {
    return this.find((message) => message.id === id);
  }

  async find(fits: (message: RawMessage) => boolean): Promise<RawMessage> {
    for (;;) {
      const found = this.lines.map((line) => JSON.parse(line) as RawMessage).find(fits);
      if (found !== undefined) return found;
      if (this.child.exitCode !== null) assert.fail(`the bridge ended: ${this.stderr}`);
      await setTimeout(20);
    }
  }

  async begin(): Promise<void> {
    this.send(initialize);
    await this.answer(0);
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  async end(): Promise<number | null> {
    const ended = once(this.child, 'exit');
    this.child.stdin?.end();
    await ended;
    return this.child.exitCode;
  }
}

export const callTool = (id: number, name: string, args: object, meta: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
});
