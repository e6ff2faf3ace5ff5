import type { JsonObject } from '@sallyport/contract';
import {
  malformed,
  parseBody,
  plainTraceId,
  readInput,
  readNumber,
  readObject,
  readObjects,
  readText,
  readWait,
} from '../http/json-fields.ts';
import { consentOf } from '../http/read-call.ts';
import type { CallRequest } from '../connect/read-call.ts';

/** `chat.assistant_plan`: what an agent means to do. */
export interface PlanMessage {
  readonly type: 'chat.assistant_plan';
  /** Empty: the header's, or a new one. */
  readonly traceId: string;
  readonly summary: string;
  readonly calls: readonly JsonObject[];
  readonly waitMs: number;
}

/** `tool.execute`: calls to make now, one after the other. */
export interface ExecuteMessage {
  readonly type: 'tool.execute';
  readonly traceId: string;
  /** As the caller wrote it. */
  readonly callerTraceId: string;
  readonly calls: readonly CallRequest[];
}

export type Message = PlanMessage | ExecuteMessage;

const mostCalls = 50;

/** Reads a message. Throws RpcError when it is malformed; values that only the gate can judge pass. */
export function parseMessage(bytes: Buffer): Message {
  const body = parseBody(bytes);
  const type = readText(body, 'type');
  const traceId = plainTraceId(readText(body, 'trace_id'));
  switch (type) {
    case 'chat.assistant_plan': {
      const { waitMs = 0 } = readWait(body, 'wait_ms');
      const calls = readObjects(body, 'calls').map(readPlanned);
      return { type, traceId, summary: readText(body, 'summary'), calls, waitMs };
    }
    case 'tool.execute':
      return { type, traceId, callerTraceId: readText(body, 'trace_id'), calls: readCalls(body) };
    default:
      throw malformed('"type" must be "chat.assistant_plan" or "tool.execute".');
  }
}

function readPlanned(call: JsonObject): JsonObject {
  const reason = readText(call, 'reason');
  return { tool: readText(call, 'tool'), arguments: readObject(call, 'args'), ...(reason === '' ? {} : { reason }) };
}

/** One call in the message itself, or several in a list; a token holds for all of them. */
function readCalls(body: JsonObject): readonly CallRequest[] {
  const listed = readObjects(body, 'calls');
  if (listed.length > 0 === 'tool' in body) throw malformed('Name the calls once, as "calls" or as "tool" and "args".');
  if (listed.length > mostCalls) throw malformed(`A message holds ${mostCalls} calls at most.`);
  const token = readText(body, 'confirm_token');
  const wait = readWait(body, 'wait_ms');
  return (listed.length > 0 ? listed : [body]).map((call) => ({
    name: readText(call, 'tool'),
    ...readInput(call, 'args'),
    requestId: readText(call, 'call_id'),
    timeoutMs: readNumber(call, 'timeout_ms'),
    dedupeKey: readText(call, 'dedupe_key'),
    confirmBinding: '',
    ...consentOf(readText(call, 'approval_task_id'), token),
    ...wait,
  }));
}
