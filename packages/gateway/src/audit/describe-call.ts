import type { JsonObject } from '@sallyport/contract';
import type * as facts from '../call/call.ts';
import type { Consent } from '../call/call.ts';
import { cutText, encodeRedacted, ownText } from '../call/redacted.ts';
import type { Redacted, RedactedJson } from '../call/redacted.ts';
import type { Refusal } from '../call/refusal.ts';
import { countValues } from '../registry/schemas/count-values.ts';
import { redactQuotes } from '../redaction/quoted-secrets.ts';
import { redactRemedy } from '../redaction/redact-remedy.ts';
import type { Redactor } from '../redaction/redact.ts';
import { redacted } from '../redaction/span.ts';

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

/** What a record says, before it is put into words. */
export type Payload = { readonly [key: string]: RedactedJson };

const mostBytes = 48 * 1024;
const mostValues = 10_000;
const longestIdentifier = 256;
const longestReason = 2000;

/** Who called what, and what was decided: the part that intents and refusals share. */
export function describeCall(call: KnownFacts, redactor: Redactor): Payload {
  const { session, tool, verdict, consent } = call;
  const keep = (text = ''): Redacted => keepText(text, redactor, longestIdentifier);
  const own = (text: string | undefined): Redacted | undefined => (text === undefined ? undefined : ownText(text));
  return {
    request_id: keep(call.requestId),
    ...optional('trace_id', own(call.traceId)),
    // Theirs beside ours, so that the call is found by the one that they know.
    ...optional('caller_trace_id', call.callerTraceId === call.traceId ? undefined : keep(call.callerTraceId)),
    ...describeStep(call),
    ...optional('task_id', keep(call.taskId)),
    ...optional('correlation_id', keep(call.correlationId)),
    ...optional('door', own(call.door)),
    ...optional('source', session === undefined ? keep(call.source) : undefined),
    ...optional('agent', own(session?.agent)),
    ...optional('principal', own(session?.principal)),
    ...optional('workspace', keep(call.rules?.workspace.folder ?? session?.workspace)),
    ...optional('project_rules', own(call.rules?.workspace.rulesSha256)),
    // Upstream servers choose the names of their tools.
    tool: keep(tool?.definition.name ?? call.toolName),
    ...(tool !== undefined && call.toolName !== tool.definition.name ? { tool_as_named: keep(call.toolName) } : {}),
    ...optional('version', keep(tool?.definition.version)),
    // A hash of little more than a short secret can be guessed.
    ...optional('arguments_sha256', tool?.definition.secretArguments ? undefined : own(call.arguments?.sha256)),
    ...describeArguments(call, redactor),
    ...optional('mode', own(call.mode)),
    ...(verdict === undefined
      ? {}
      : {
          decision: {
            effect: ownText(verdict.effect),
            rule_id: ownText(verdict.rule.id),
            reason: keepText(verdict.reason, redactor),
            ...(verdict.shadow === undefined
              ? {}
              : { shadow: { effect: ownText(verdict.shadow.effect), rule_id: ownText(verdict.shadow.rule.id) } }),
          },
        }),
    ...(consent === undefined ? {} : { consent: describeConsent(consent) }),
  };
}

/** Which step of which call this one is. Nothing for a call of its own. */
export function describeStep({ step }: Partial<facts.Chained>): Payload {
  return step === undefined ? {} : { parent_call_id: ownText(step.parent.callId), step: ownText(step.id) };
}

/** As an operator reads it: also what they could change. */
export function describeRefusal(
  refusal: Refusal,
  stage: string,
  redactor: Redactor,
  call: Pick<KnownFacts, 'resources' | 'input'>,
): RedactedJson {
  const remedy = redactRemedy(refusal.forOperators ?? refusal.remedy, call, redactor);
  return {
    stage: ownText(stage),
    code: ownText(refusal.code),
    rule_id: ownText(refusal.rule.id),
    message: keepText(refusal.message, { redactText: redactQuotes(call.input, redactor) }),
    ...(remedy === undefined ? {} : { remedy: cutText(remedy, longestReason) }),
    ...(refusal.violations === undefined ? {} : { violations: refusal.violations.length }),
    ...(refusal.shadow === undefined
      ? {}
      : { shadow: { effect: ownText(refusal.shadow.effect), rule_id: ownText(refusal.shadow.ruleId) } }),
  };
}

/** A text as a record keeps it. */
export function keepText(text: string, redactor: Pick<Redactor, 'redactText'>, most = longestReason): Redacted {
  return cutText(redactor.redactText(text), most);
}

/** The text of a payload. What would not fit into a record gives way to a note of its size. */
export function encodePayload(payload: Payload): Redacted {
  const text = encodeRedacted(payload);
  return Buffer.byteLength(text) <= mostBytes ? text : encodeLargePayload(payload);
}

function encodeLargePayload(payload: Payload): Redacted {
  const kept: { [key: string]: RedactedJson } = { ...payload };
  const omitted: { [key: string]: number } = {};
  for (;;) {
    const [largest, size] = largestMember(kept);
    delete kept[largest];
    omitted[largest] = size;
    const text = encodeRedacted({ ...kept, omitted_bytes: omitted });
    if (Buffer.byteLength(text) <= mostBytes) return text;
  }
}

function largestMember(payload: Payload): [name: string, bytes: number] {
  const sizes = Object.entries(payload).map(([name, value]): [string, number] => {
    return [name, Buffer.byteLength(JSON.stringify(value))];
  });
  return sizes.reduce((largest, next) => (next[1] > largest[1] ? next : largest), ['', 0]);
}

/** Only of callers who are known: nobody else gets to choose what stands in the log, and how much of it. */
function describeArguments(call: KnownFacts, redactor: Redactor): Payload {
  const value = call.arguments?.value ?? call.rawArguments;
  if (value === undefined || call.session === undefined) return {};
  if (countValues(value, mostValues) === mostValues) return { arguments: ownText(`[${mostValues} values or more]`) };
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

function optional(name: string, value: Redacted | undefined): Payload {
  return value === undefined || value === '' ? {} : { [name]: value };
}

function describeConsent({ by, how, atMs, binding, use }: Consent): Payload {
  const task = use?.kind === 'task' ? { task: ownText(use.taskId) } : {};
  return { by: ownText(by), how: ownText(how), at_ms: atMs, binding: ownText(binding), ...task };
}
