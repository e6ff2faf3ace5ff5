import type { Json, JsonObject } from '@sallyport/contract';
import type * as facts from '../model/call.ts';
import type { Consent } from '../model/call.ts';
import type { Refusal } from '../model/refusal.ts';
import { countValues } from '../registry/count-values.ts';
import { redactRemedy } from './redact-remedy.ts';
import type { Redactor } from './redact.ts';
import { redacted } from './span.ts';

/** All facts that a record may tell, as far as the call came. */
export type KnownFacts = Partial<
  facts.Begun &
    facts.Chained &
    facts.Decoded &
    facts.ArgumentsRead &
    facts.Opened &
    facts.Resolved &
    facts.ArgumentsChecked &
    facts.ModeRead &
    facts.Judged &
    facts.Consented
>;

const mostBytes = 48 * 1024;
const mostValues = 10_000;
const longestIdentifier = 256;
const longestReason = 2000;

/** Who called what, and what was decided: the part that intents and refusals share. */
export function describeCall(call: KnownFacts, redactor: Redactor): { [key: string]: Json } {
  const { session, tool, verdict, consent } = call;
  const keep = (text = ''): string => keepText(text, redactor, longestIdentifier);
  return {
    request_id: keep(call.requestId),
    ...optional('trace_id', call.traceId),
    ...describeStep(call),
    ...optional('task_id', keep(call.taskId)),
    ...optional('correlation_id', keep(call.correlationId)),
    ...optional('door', call.door),
    ...optional('source', session === undefined ? keep(call.source) : undefined),
    ...optional('agent', session?.agent),
    ...optional('principal', session?.principal),
    tool: tool?.definition.name ?? keep(call.toolName),
    ...(tool !== undefined && call.toolName !== tool.definition.name ? { tool_as_named: call.toolName ?? '' } : {}),
    ...optional('version', tool?.definition.version),
    // A hash of little more than a short secret can be guessed.
    ...optional('arguments_sha256', tool?.definition.secretArguments ? undefined : call.arguments?.sha256),
    ...describeArguments(call, redactor),
    ...optional('mode', call.mode),
    ...(verdict === undefined
      ? {}
      : {
          decision: {
            effect: verdict.effect,
            rule_id: verdict.rule.id,
            reason: keepText(verdict.reason, redactor),
            ...(verdict.shadow === undefined
              ? {}
              : { shadow: { effect: verdict.shadow.effect, rule_id: verdict.shadow.rule.id } }),
          },
        }),
    ...(consent === undefined ? {} : { consent: describeConsent(consent) }),
  };
}

/** Which step of which call this one is. Nothing for a call of its own. */
export function describeStep({ step }: Partial<facts.Chained>): { readonly [key: string]: Json } {
  return step === undefined ? {} : { parent_call_id: step.parent.callId, step: step.id };
}

/** As the caller heard it: also what they could do about it. */
export function describeRefusal(
  refusal: Refusal,
  stage: string,
  redactor: Redactor,
  { resources }: Pick<KnownFacts, 'resources'>,
): Json {
  const remedy = redactRemedy(refusal, resources, redactor);
  return {
    stage,
    code: refusal.code,
    rule_id: refusal.rule.id,
    message: keepText(refusal.message, redactor),
    ...(remedy === undefined ? {} : { remedy: remedy.slice(0, longestReason).toWellFormed() }),
    ...(refusal.violations === undefined ? {} : { violations: refusal.violations.length }),
    ...(refusal.shadow === undefined
      ? {}
      : { shadow: { effect: refusal.shadow.effect, rule_id: refusal.shadow.ruleId } }),
  };
}

/** A text as a record keeps it. Redacted before it is cut: half a secret is one that nobody recognises any more. */
export function keepText(text: string, redactor: Redactor, most = longestReason): string {
  return redactor.redactText(text).slice(0, most).toWellFormed();
}

/** The text of a payload. What would not fit into a record gives way to a note of its size. */
export function encodePayload(payload: { [key: string]: Json }): string {
  const text = JSON.stringify(payload);
  return Buffer.byteLength(text) <= mostBytes ? text : encodeLargePayload(payload);
}

function encodeLargePayload(payload: { [key: string]: Json }): string {
  const kept = { ...payload };
  const omitted: { [key: string]: number } = {};
  for (;;) {
    const [largest, size] = largestMember(kept);
    delete kept[largest];
    omitted[largest] = size;
    const text = JSON.stringify({ ...kept, omitted_bytes: omitted });
    if (Buffer.byteLength(text) <= mostBytes) return text;
  }
}

function largestMember(payload: { [key: string]: Json }): [name: string, bytes: number] {
  const sizes = Object.entries(payload).map(([name, value]): [string, number] => {
    return [name, Buffer.byteLength(JSON.stringify(value))];
  });
  return sizes.reduce((largest, next) => (next[1] > largest[1] ? next : largest), ['', 0]);
}

/** Only of callers who are known: nobody else gets to choose what stands in the log, and how much of it. */
function describeArguments(call: KnownFacts, redactor: Redactor): { arguments?: Json } {
  const value = call.arguments?.value ?? call.rawArguments;
  if (value === undefined || call.session === undefined) return {};
  if (countValues(value, mostValues) === mostValues) return { arguments: `[${mostValues} values or more]` };
  return { arguments: redactor.redactJson(hideMembers(value, secretMembers(call, value))) };
}

function hideMembers(value: JsonObject, names: readonly string[]): JsonObject {
  if (names.length === 0) return value;
  const hidden = new Set(names);
  const members = Object.entries(value).map(([name, member]) => [name, hidden.has(name) ? redacted : member]);
  return Object.fromEntries(members) as JsonObject;
}

/** Those that the tool declares; all of them as long as nobody knows which ones the caller meant. */
function secretMembers(call: KnownFacts, value: JsonObject): readonly string[] {
  const declared = call.tool?.definition.secretArguments ?? [];
  const isUnderstood = call.arguments !== undefined || (call.tool !== undefined && declared.length === 0);
  return isUnderstood ? declared : Object.keys(value);
}

function optional(name: string, value: string | undefined): { [key: string]: Json } {
  return value === undefined || value === '' ? {} : { [name]: value };
}

function describeConsent({ by, how, atMs, binding, use }: Consent): JsonObject {
  return { by, how, at_ms: atMs, binding, ...(use?.kind === 'task' ? { task: use.taskId } : {}) };
}
