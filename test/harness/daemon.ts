import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postText } from './post-json.ts';
import type { JsonReply } from './post-json.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');

export interface Answer {
  readonly requestId: string;
  readonly callId: string;
  readonly traceId: string;
  readonly tool: string;
  readonly success?: { readonly outputJson: string };
  readonly denied?: {
    readonly ruleId: string;
    readonly rationaleCode: string;
    readonly message: string;
    readonly remedy?: string;
    readonly violations?: readonly { readonly field: string; readonly rule: string; readonly message: string }[];
    readonly approval?: { readonly binding: string; readonly effect: string };
  };
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly retryable?: boolean;
    readonly retryAfterMs?: string;
  };
  readonly warnings?: readonly string[];
  readonly context?: { readonly taskId?: string; readonly correlationId?: string };
}

export interface Place {
  readonly folder: string;
  readonly home: string;
  readonly workspace: string;
}

/** A home and a workspace of their own, under the system's temporary folder unless another is named. */
export function newPlace(under = tmpdir()): Place {
  const folder = mkdtempSync(join(under, 'sallyport-'));
  // Programs of a daemon that runs as root belong to another user, who must come through.
  chmodSync(folder, 0o711);
  const place = { folder, home: join(folder, 'home'), workspace: join(folder, 'work') };
  mkdirSync(place.workspace);
  return place;
}

export function environmentOf(place: Place, more: Record<string, string> = {}): Record<string, string> {
  const compiled = process.env['NODE_COMPILE_CACHE'];
  return {
    PATH: process.env['PATH'] ?? '',
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
    HOME: place.folder,
    SALLYPORT_HOME: place.home,
    SALLYPORT_WORKSPACE: place.workspace,
    SALLYPORT_PORT: '0',
    ...more,
  };
}

/** A real daemon in a process of its own. */
export class TestDaemon {
  readonly place: Place;
  readonly process: ChildProcess;
  readonly address: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 128 });

  private constructor(place: Place, child: ChildProcess, address: string) {
    this.place = place;
    this.process = child;
    this.address = address;
  }

  /** Resolves when the daemon serves; rejects with what it printed when it does not start. */
  static async start(
    place: Place = newPlace(),
    environment: Record<string, string> = {},
    { maxDescriptors, uid }: { readonly maxDescriptors?: number; /** Absent: ours. */ readonly uid?: number } = {},
  ): Promise<TestDaemon> {
    const command = [process.execPath, program, 'up', '--json'];
    const limited = maxDescriptors === undefined ? [] : ['sh', '-c', `ulimit -n ${maxDescriptors} && exec "$@"`, 'sh'];
    const [file = '', ...args] = [...limited, ...command];
    const child = spawn(file, args, {
      env: environmentOf(place, environment),
      cwd: place.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    let output = '';
    child.stderr.on('data', (data: Buffer) => (output += data.toString()));
    const ready = await new Promise<{ address: string }>((resolve, reject) => {
      child.stdout.on('data', (data: Buffer) => {
        output += data.toString();
        const line = output.split('\n').find((text) => text.startsWith('{') && text.includes('"address"'));
        if (line !== undefined) resolve(JSON.parse(line) as { address: string });
      });
      child.once('exit', (code) => reject(new Error(`the daemon ended with ${code}: ${output}`)));
    });
    return new TestDaemon(place, child, ready.address);
  }

  get operatorToken(): string {
    return readFileSync(join(this.place.home, 'credentials', 'operator'), 'utf8').trim();
  }

  get operatorSocket(): string {
    return join(this.place.home, 'run', 'operator', 'sallyport.sock');
  }

  /** A governed call by the operator, or by an agent when a token is given. */
  async call(name: string, input: unknown, more: { token?: string; [field: string]: unknown } = {}): Promise<Answer> {
    const { token, ...fields } = more;
    const body = { name, inputJson: typeof input === 'string' ? input : JSON.stringify(input), ...fields };
    const { status, json } = await this.post('sallyport.v1.ToolService/ExecuteTool', body, token);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)}`);
    return json as Answer;
  }

  async newAgent(agent: string, more: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.call('sessions.create', { agent, ...more });
    return (JSON.parse(answer.success?.outputJson ?? '{}') as { token: string }).token;
  }

  async status(): Promise<Record<string, string>> {
    return (await this.post('sallyport.v1.OperatorService/GetStatus', {})).json as Record<string, string>;
  }

  async records(
    from = 0,
  ): Promise<{ kind: string; result: string; callId: string; payload: Record<string, unknown> }[]> {
    const { json } = await this.post('sallyport.v1.OperatorService/ReadAudit', { from: String(from), limit: 1000 });
    const { records = [] } = json as {
      records?: { kind: string; result: string; callId: string; payloadJson: string }[];
    };
    return records.map(({ payloadJson, ...record }) => ({
      ...record,
      payload: JSON.parse(payloadJson || '{}') as Record<string, unknown>,
    }));
  }

  /** Without a token it goes to the operator's socket with the operator's credential; with one, to TCP. */
  post(method: string, body: unknown, token?: string): Promise<JsonReply> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { hostname: host, port } = new URL(this.address);
    const target = token === undefined ? { socketPath: this.operatorSocket } : { host, port };
    return postText({ ...target, agent: this.#agent, path: `/${method}` }, text, token ?? this.operatorToken);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#agent.destroy();
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill(signal);
    await ended;
  }

  /** Ends the daemon and removes everything it had. */
  async remove(): Promise<void> {
    await this.kill('SIGTERM');
    rmSync(this.place.folder, { recursive: true, force: true });
  }
}
