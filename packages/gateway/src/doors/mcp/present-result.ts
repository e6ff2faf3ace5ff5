import { isCallToolResult } from '@modelcontextprotocol/server';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { isJsonObject } from '@sallyport/contract';
import type { Code, ExecuteToolResponse, Json, JsonObject } from '@sallyport/contract';
import type { RedactedEnding } from '../redact-ending.ts';
import type { Outcome } from '../../call/call.ts';
import type { ToolDefinition } from '../../call/tool.ts';
import { readTrouble } from '../http/read-trouble.ts';
import type { Trouble } from '../http/read-trouble.ts';
import { presentEnding } from '../present-ending.ts';
import { describeKept } from './kept-results.ts';
import { callKey, metaKeys } from './read-meta.ts';

export interface PresentParts {
  /** Where a person decides about a task. */
  readonly linkToTask: (taskId: string) => string;
}

/**
 * An ending as a client of MCP takes it. What the gate refuses is a result too, marked as an error: models read results
 * and can act on them, while errors of the protocol stay with the client.
 */
export function presentResult(ending: RedactedEnding, endedAtMs: number, parts: PresentParts): CallToolResult {
  const response = presentEnding(ending, endedAtMs);
  const trouble = readTrouble(response);
  if (trouble !== undefined) return presentTrouble(trouble, response, parts);
  const { call } = ending;
  const { outcome, tool } = call;
  const result = outcome?.ok === true && tool !== undefined ? presentOutcome(outcome, tool.definition) : noOutput;
  const warnings = response.warnings.map((text): ContentBlock => ({ type: 'text', text: `Warning: ${text}` }));
  return { ...result, content: [...result.content, ...warnings], _meta: { [callKey]: describeCall(response) } };
}

const noOutput = { content: [] as ContentBlock[] };

function presentOutcome(outcome: Extract<Outcome, { readonly ok: true }>, tool: ToolDefinition): CallToolResult {
  if (outcome.kept !== undefined) return describeKept(outcome.kept);
  const output = JSON.parse(outcome.outputJson) as Json;
  const isPromised = tool.outputSchema['type'] === 'object';
  if (tool.origin === 'upstream' && !isPromised && isNative(output)) {
    const { content, structuredContent } = output;
    return { content, ...(structuredContent === undefined ? {} : { structuredContent }) };
  }
  return {
    content: [{ type: 'text', text: typeof output === 'string' ? output : outcome.outputJson }],
    ...(isPromised && isJsonObject(output) ? { structuredContent: output } : {}),
  };
}

/** An upstream server answers in the words of MCP, which pass as they are: texts, images, sounds and resources. */
function isNative(output: Json): output is JsonObject & CallToolResult {
  return isJsonObject(output) && Array.isArray(output['content']) && isCallToolResult(output);
}

function presentTrouble(told: Trouble, response: ExecuteToolResponse, parts: PresentParts): CallToolResult {
  const remedyHere = remediesHere[told.code];
  const trouble = remedyHere === undefined ? told : { ...told, remedy: remedyHere };
  const { code, ruleId, retryable, retryAfterMs, remedy, violations, approval } = trouble;
  const taskId = code === 'APPROVAL_REQUIRED' ? approval?.taskId : undefined;
  const facts = {
    ...{ code, retryable, rule_id: ruleId, retry_after_ms: retryAfterMs, remedy, violations },
    ...(approval?.taskId === undefined
      ? {}
      : {
          approval: {
            task_id: approval.taskId,
            status: approval.status,
            expires_at: approval.expiresAt,
            url: parts.linkToTask(approval.taskId),
          },
        }),
  };
  const text = taskId === undefined ? explainTrouble(trouble, response) : explainPending(taskId, trouble, parts);
  return {
    isError: true,
    content: [{ type: 'text', text }],
    _meta: { [callKey]: { ...describeCall(response), ...withoutAbsent(facts) } },
  };
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
function explainTrouble(trouble: Trouble, { callId }: ExecuteToolResponse): string {
  const { code, message, ruleId, remedy, retryable, retryAfterMs } = trouble;
  const isDenied = ruleId !== undefined;
  const wait = retryAfterMs === undefined ? '' : `, after ${Math.ceil(retryAfterMs / 1000)} s`;
  return [
    `${isDenied ? 'Denied' : 'Failed'} (${code}${isDenied ? `, rule ${ruleId}` : ''}): ${message}`,
    ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
    ...(retryable ? [`The same call may succeed later${wait}.`] : []),
    ...(callId === '' || `${message} ${remedy}`.includes(callId) ? [] : [`Call ${callId}.`]),
  ].join('\n');
}

function explainPending(taskId: string, { code, message, ruleId, approval }: Trouble, parts: PresentParts): string {
  return [
    `Waiting for a person (${code}, rule ${ruleId}): ${message}`,
    `It has not run. A person decides at ${parts.linkToTask(taskId)} until ${approval?.expiresAt}.`,
    'What to do: tell the person, then make the same call again, with the same arguments: it goes on waiting and runs once it is approved.',
    `Clients can name the task: _meta["${metaKeys.approvalTaskId}"] = "${taskId}".`,
  ].join('\n');
}

function describeCall({ requestId, callId, traceId, tool }: ExecuteToolResponse): JsonObject {
  return { request_id: requestId, call_id: callId, trace_id: traceId, tool };
}

function withoutAbsent(facts: object): object {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
