import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Answer, Place, TestDaemon } from '../harness/daemon.ts';
import { postText } from '../harness/post-json.ts';

export interface ApprovalJson {
  readonly id: string;
  readonly status: string;
  readonly agent: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly risk: string;
  readonly title: string;
  readonly effect?: string;
  readonly effectSha256: string;
  readonly wanted?: number;
  readonly decidedBy?: string;
  readonly note?: string;
}

export type Json = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly status: number;
  readonly json: Json;
}

interface Ticket {
  readonly taskId: string;
  readonly status: string;
}

/** A person at the operator's socket, deciding: the first operator, or whose credential is given. */
export class ApprovalDesk {
  readonly #daemon: TestDaemon;
  readonly #credential: string;

  constructor(daemon: TestDaemon, credential = daemon.operatorToken) {
    this.#daemon = daemon;
    this.#credential = credential;
  }

  /** The ticket of a call that waits. */
  static ticketOf(answer: Answer): Ticket {
    assert.equal(answer.denied?.rationaleCode, 'APPROVAL_REQUIRED', JSON.stringify(answer));
    return answer.denied?.approval as unknown as Ticket;
  }

  send(method: string, body: object): Promise<Reply> {
    return postJson({ socketPath: this.#daemon.operatorSocket }, `sallyport.v1.${method}`, body, this.#credential);
  }

  async pending(): Promise<readonly ApprovalJson[]> {
    const { json } = await this.send('ApprovalService/ListApprovals', { status: 'pending' });
    return (json['approvals'] ?? []) as readonly ApprovalJson[];
  }

  async show(id: string): Promise<ApprovalJson> {
    const { status, json } = await this.send('ApprovalService/GetApproval', { id });
    assert.equal(status, 200, JSON.stringify(json));
    return json['approval'] as ApprovalJson;
  }

  /** Looks at the effect, then decides about it. */
  async decide(id: string, approved: boolean, more: object = {}): Promise<Reply> {
    const { effectSha256, wanted: runs = 1 } = await this.show(id);
    return this.send('ApprovalService/DecideApproval', { id, approved, effectSha256, runs, ...more });
  }

  async approve(id: string, more: object = {}): Promise<Json> {
    const { status, json } = await this.decide(id, true, more);
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  }
}

export function outputOf(answer: Answer): Record<string, unknown> {
  assert.ok(answer.success, JSON.stringify(answer));
  return JSON.parse(answer.success.outputJson) as Record<string, unknown>;
}

export function writeWorkspaceFile(daemon: TestDaemon, name: string, content = name): void {
  writeFileSync(join(daemon.place.workspace, name), content);
}

export function listWorkspace(daemon: TestDaemon, folder = '.'): readonly string[] {
  return readdirSync(join(daemon.place.workspace, folder)).sort();
}

/** One Connect call, at whichever door. */
export function postJson(
  target: object,
  method: string,
  body: object,
  credential: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return postText({ ...target, path: `/${method}` }, JSON.stringify(body), credential, more) as Promise<Reply>;
}

/** The messages of a Connect stream, as they come. What ends it is the last of them. */
export async function* followStream<Message>(
  target: object,
  method: string,
  credential: string,
  body: object = {},
): AsyncGenerator<Message, undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { 'content-type': 'application/connect+json', authorization: `Bearer ${credential}` };
  const sent = request({ ...target, method: 'POST', path: `/sallyport.v1.${method}`, headers }, resolve);
  sent.on('error', reject);
  const message = Buffer.from(JSON.stringify(body));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  sent.end(Buffer.concat([prefix, message]));
  let bytes = Buffer.alloc(0);
  try {
    for await (const chunk of (await promise) as AsyncIterable<Buffer>) {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
        const end = 5 + bytes.readUInt32BE(1);
        yield JSON.parse(bytes.subarray(5, end).toString()) as Message;
        bytes = bytes.subarray(end);
      }
    }
  } finally {
    sent.destroy();
  }
}

/** Gives a place the shipped rules with other limits for approvals. */
export function limitApprovals(place: Place, limits: string): Place {
  const rules = join(place.home, 'governance');
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  cpSync(join(import.meta.dirname, '../../config/governance'), rules, { recursive: true });
  writeFileSync(join(rules, 'limits.yaml'), `version: 1\nrates: []\napprovals: ${limits}\n`);
  return place;
}

/** The header that puts a call into a trace. */
export function inTrace(traceId: string): Readonly<Record<string, string>> {
  return { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
}
