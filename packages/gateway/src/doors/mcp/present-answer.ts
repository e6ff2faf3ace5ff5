import { specTypeSchemas } from '@modelcontextprotocol/server';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { isJsonObject } from '@sallyport/contract';
import type { Code, Json, JsonObject } from '@sallyport/contract';
import { toolNameOf } from '../../call/answer.ts';
import type { Answer, Output, Problem } from '../../call/answer.ts';
import type { ApprovalTicket } from '../../call/refusal.ts';
import type { ToolDefinition } from '../../call/tool.ts';
import { isPlainText } from '../../upstreams/is-plain-result.ts';
import { describeKept } from './kept-results.ts';
import { callKey, metaKeys } from './read-meta.ts';

export interface PresentParts {
  /** Where a person decides about a task. */
  readonly linkToTask: (taskId: string) => string;
}

/**
 * An answer as a client of MCP takes it. What the gate refuses is a result too, marked as an error: models read results
 * and can act on them, while errors of the protocol stay with the client.
 */
export function presentAnswer(answer: Answer, parts: PresentParts): CallToolResult {
  const { tool, output, problem } = answer;
  if (problem !== undefined) return presentProblem(problem, answer, parts);
  const result = output !== undefined && tool !== undefined ? presentOutput(output, tool) : noOutput;
  const warnings = answer.warnings.map((text): ContentBlock => ({ type: 'text', text: `Warning: ${text}` }));
  return { ...result, content: [...result.content, ...warnings], _meta: { [callKey]: describeCall(answer) } };
}

const noOutput = { content: [] as ContentBlock[] };

function presentOutput({ outputJson, kept }: Output, tool: ToolDefinition): CallToolResult {
  if (kept !== undefined) return describeKept(kept);
  const output = JSON.parse(outputJson) as Json;
  const isPromised = tool.outputSchema['type'] === 'object';
  const native = tool.origin === 'upstream' && !isPromised ? readNative(output) : undefined;
  if (native !== undefined) {
    const { content, structuredContent } = native;
    return { content, ...(structuredContent === undefined ? {} : { structuredContent }) };
  }
  return {
    content: [{ type: 'text', text: typeof output === 'string' ? output : outputJson }],
    ...(isPromised && isJsonObject(output) ? { structuredContent: output } : {}),
  };
}

/**
 * An upstream server answers in the words of MCP, which pass as they are: texts, images, sounds and resources. Undefined:
 * they are no such words.
 */
function readNative(output: Json): CallToolResult | undefined {
  if (!isJsonObject(output) || !Array.isArray(output['content'])) return undefined;
  // Nothing but text, as most answers are, needs no schema.
  if (output['content'].every(isPlainText)) return output as unknown as CallToolResult;
  const read = specTypeSchemas.CallToolResult['~standard'].validate(output);
  return read.issues === undefined ? read.value : undefined;
}

function presentProblem(problem: Problem, answer: Answer, { linkToTask }: PresentParts): CallToolResult {
  const { code, ruleId, retryable, retryAfterMs, violations, approval } = problem;
  const remedy = remediesHere[code] ?? problem.remedy;
  const ticket = approval?.taskId === undefined ? undefined : describeTicket(approval, linkToTask(approval.taskId));
  const facts = {
    code,
    retryable,
    rule_id: ruleId,
    retry_after_ms: retryAfterMs,
    remedy,
    violations,
    approval: ticket,
  };
  const isPending = answer.status === 'pending' && ticket !== undefined;
  return {
    isError: true,
    content: [{ type: 'text', text: isPending ? explainPending(problem, ticket) : explain(problem, remedy, answer) }],
    _meta: { [callKey]: { ...describeCall(answer), ...withoutAbsent(facts) } },
  };
}

function describeTicket({ taskId, status = 'pending', expiresAtMs = 0 }: ApprovalTicket, url: string) {
  return { task_id: taskId, status, expires_at: new Date(expiresAtMs).toISOString(), url };
}

const askAnew = 'Make the same call again if it is still wanted: a person will be asked anew.';

/** Where other doors name their own methods and fields, a client of MCP is told what it has instead. */
const remediesHere: Partial<Record<Code, string>> = {
  UNKNOWN_TOOL: 'Call one of the tools that tools/list shows.',
  INVALID_ARGUMENTS: 'Send arguments that fit the inputSchema of the tool.',
  APPROVAL_MISMATCH: askAnew,
  APPROVAL_EXPIRED: askAnew,
  APPROVAL_USED: askAnew,
};

/** Code, rule and remedy in words that a model can act on. */
function explain(problem: Problem, remedy: string | undefined, { callId }: Answer): string {
  const { code, message, ruleId, retryable, retryAfterMs } = problem;
  const isDenied = ruleId !== undefined;
  const wait = retryAfterMs === undefined ? '' : `, after ${Math.ceil(retryAfterMs / 1000)} s`;
  return [
    `${isDenied ? 'Denied' : 'Failed'} (${code}${isDenied ? `, rule ${ruleId}` : ''}): ${message}`,
    ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
    ...(retryable ? [`The same call may succeed later${wait}.`] : []),
    ...(callId === '' || `${message} ${remedy}`.includes(callId) ? [] : [`Call ${callId}.`]),
  ].join('\n');
}

function explainPending({ code, message, ruleId }: Problem, ticket: ReturnType<typeof describeTicket>): string {
  return [
    `Waiting for a person (${code}, rule ${ruleId}): ${message}`,
    `It has not run. A person decides at ${ticket.url} until ${ticket.expires_at}.`,
    'What to do: tell the person, then make the same call again, with the same arguments: it goes on waiting and runs once it is approved.',
    `Clients can name the task: _meta["${metaKeys.approvalTaskId}"] = "${ticket.task_id}".`,
  ].join('\n');
}

function describeCall(answer: Answer): JsonObject {
  const { requestId, callId, traceId } = answer;
  return { request_id: requestId, call_id: callId, trace_id: traceId, tool: toolNameOf(answer) };
}

function withoutAbsent(facts: object): object {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
