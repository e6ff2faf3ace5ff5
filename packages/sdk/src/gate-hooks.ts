import { request } from 'node:http';
import { text } from 'node:stream/consumers';

/** How adapters reach the gate. */
export interface HookOptions {
  /** Absent: `http://127.0.0.1:4780`. Not together with `socketPath`. */
  readonly address?: string;
  /** The agent socket, `run/agent/sallyport.sock` in the home of the daemon. */
  readonly socketPath?: string;
  /** The token of the session. Absent: SALLYPORT_TOKEN. */
  readonly token?: string;
}

/** What the gate says about a use of a tool. */
export interface HookReply {
  readonly output?: { readonly hookSpecificOutput?: HookDecision };
  /** 2 blocks. */
  readonly exitCode: number;
  readonly message?: string;
}

export interface HookDecision {
  readonly hookEventName: 'PreToolUse';
  readonly permissionDecision: 'allow' | 'deny';
  readonly permissionDecisionReason: string;
  readonly updatedInput?: Record<string, unknown>;
}

/** Tells the gate what happens with a tool. Rejects when the gate cannot be reached, or did not understand. */
export type TellGate = (payload: object, signal?: AbortSignal) => Promise<HookReply>;

/** `client`: whose hooks they are. Throws TypeError for options that cannot work. */
export function openHooks(client: 'claude-code' | 'sdk', options: HookOptions = {}): TellGate {
  const token = (options.token ?? process.env['SALLYPORT_TOKEN'])?.trim();
  if (!token) throw new TypeError('There is no token: pass one, or set SALLYPORT_TOKEN. `session create` prints it.');
  const { socketPath, address = 'http://127.0.0.1:4780' } = options;
  const url = new URL(address);
  if (url.protocol !== 'http:') throw new TypeError(`The address must begin with http:, not ${url.protocol}`);
  const target =
    socketPath === undefined ? { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: url.port } : { socketPath };
  return (payload, signal) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(payload);
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        authorization: `Bearer ${token}`,
      };
      const path = `/v1/hooks/${client}`;
      const sent = request({ ...target, method: 'POST', path, headers, ...(signal && { signal }) }, (response) => {
        text(response).then((answer) => resolve(readReply(response.statusCode ?? 0, answer)), reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
}

/** Throws for everything that is not an answer of the gate: an unreadable answer gives no permission. */
function readReply(status: number, answer: string): HookReply {
  const reply = JSON.parse(answer) as Partial<HookReply>;
  if (status !== 200) throw new Error(reply.message ?? `the gate answered ${status}`);
  if (reply.exitCode !== 0 && reply.exitCode !== 2) throw new Error('the gate gave an unreadable answer');
  return reply as HookReply;
}

/** The gate refused a use of a tool. The message is for the model: the reason, and what it may do instead. */
export class UseRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UseRefused';
  }
}
