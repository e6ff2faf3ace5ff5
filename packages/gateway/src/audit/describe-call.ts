import type { JsonObject } from '@sallyport/contract';
import type * as facts from '../call/call.ts';
import type { Consent } from '../call/call.ts';
import { cutText, encodeRedacted, ownText } from '../call/redacted.ts';
import type { Redacted, RedactedJson } from '../call/redacted.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Gathered } from '../call/stage.ts';
import { countValues } from '../registry/schemas/check-schema.ts';
import { redactQuotes } from '../redaction/quoted-secrets.ts';
import { redactRemedy } from '../redaction/redact-refusal.ts';
import type { Redactor } from '../redaction/redact.ts';
import { redacted } from '../redaction/span.ts';
import type { NetworkLog } from '@sallyport/sandbox';

/** All facts that a record may tell, as far as the call came. */
export type KnownFacts = Gathered<
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

/** What a record says, before it is put into words. Members that are undefined are not told. */
export type Payload = { readonly [key: string]: RedactedJson | undefined };

const mostBytes = 48 * 1024;
const mostValues = 10_000;
const longestIdentifier = 256;
const longestReason = 2000;

/**
 * Who called what, and what was decided: the part that intents and refusals share. What is this call's alone stands first,
 * and the agent before everything else, so that calls that are alike end in the same text (DecidedRecord).
 */
export function describeCall(call: KnownFacts, redactor: Redactor, more: MoreOfCall = {}): Payload {
  return {
    ...describeOwn(call, redactor),
    ...describeCaller(call, redactor),
    ...describeAsked(call, redactor),
    ...describeDecision(call, redactor),
    ...describeConsent(call, more),
  };
}

/** What no other call shares. */
export function describeOwn(call: KnownFacts, redactor: Redactor): Payload {
  const keep = keepWith(redactor);
  return {
    request_id: call.requestId === call.callId ? ownText(call.callId ?? '') : (keep(call.requestId) ?? ownText('')),
    trace_id: own(call.traceId),
    // Theirs beside ours, so that the call is found by the one that they know.
    caller_trace_id: call.callerTraceId === call.traceId ? undefined : keep(call.callerTraceId),
    parent_call_id: own(call.step?.parent.callId),
    step: own(call.step?.id),
    task_id: keep(call.taskId),
    correlation_id: keep(call.correlationId),
    door: own(call.door),
    source: call.session === undefined ? keep(call.source) : undefined,
  };
}

/** Who called which tool, and from where. */
export function describeCaller({ session, tool, rules, toolName = '' }: KnownFacts, redactor: Redactor): Payload {
  const definition = tool?.definition;
  const keep = keepWith(redactor);
  return {
    agent: own(session?.agent),
    principal: own(session?.principal),
    workspace: keep(rules?.workspace.folder ?? session?.workspace),
    project_rules: own(rules?.workspace.rulesSha256),
    // Upstream servers choose the names of their tools.
    tool: keepName(definition?.name ?? toolName, redactor),
    tool_as_named: definition !== undefined && toolName !== definition.name ? keepName(toolName, redactor) : undefined,
    version: keep(definition?.version),
  };
}

export function describeAsked(call: KnownFacts, redactor: Redactor): Payload {
  return {
    // A hash of little more than a short secret can be guessed.
    arguments_sha256: call.tool?.definition.secretArguments ? undefined : own(call.arguments?.sha256),
    arguments: describeArguments(call, redactor),
    ran_by: own(call.clientRun?.client),
  };
}

export function describeDecision({ mode, verdict }: KnownFacts, redactor: Redactor): Payload {
  return {
    mode: own(mode),
    decision: verdict && {
      effect: ownText(verdict.effect),
      rule_id: ownText(verdict.rule.id),
      reason: keepText(verdict.reason, redactor),
      ...(verdict.shadow && { shadow: describeShadow(verdict.shadow.effect, verdict.shadow.rule.id) }),
    },
  };
}

export function describeConsent(call: KnownFacts, { consent = call.consent, reusedFrom }: MoreOfCall): Payload {
  return { consent: consent && showConsent(consent), reused_from: own(reusedFrom) };
}

export interface MoreOfCall {
  /** Which consent is used. Absent: that of the call. */
  readonly consent?: Consent | undefined;
  /** The call whose result is given again. Absent: it runs. */
  readonly reusedFrom?: string | undefined;
}

/** What is ours, if there is something. */
function own(text: string | undefined): Redacted | undefined {
  return text ? ownText(text) : undefined;
}

function keepWith(redactor: Redactor): (text: string | undefined) => Redacted | undefined {
  return (text) => (text ? keepName(text, redactor) : undefined);
}

function keepName(text: string, redactor: Pick<Redactor, 'redactText'>): Redacted {
  return keepText(text, redactor, longestIdentifier);
}

function describeShadow(effect: string, ruleId: string): RedactedJson {
  return { effect: ownText(effect), rule_id: ownText(ruleId) };
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
    ...(refusal.shadow && { shadow: describeShadow(refusal.shadow.effect, refusal.shadow.ruleId) }),
    // So that the question, the answer and the run are found together.
    ...(refusal.approval?.taskId && { task: ownText(refusal.approval.taskId) }),
  };
}

/** A text as a record keeps it. */
export function keepText(text: string, redactor: Pick<Redactor, 'redactText'>, most = longestReason): Redacted {
  return cutText(redactor.redactText(text), most);
}

/** The text of a payload. What would not fit into a record gives way to a note of its size. */
export function encodePayload(payload: Payload): Redacted {
  const text = encodeRedacted(payload);
  return fitsRecord(text) ? text : encodeLargePayload(payload);
}

export function fitsRecord(text: string): boolean {
  // A character takes three bytes at most.
  return text.length * 3 <= mostBytes || Buffer.byteLength(text) <= mostBytes;
}

function encodeLargePayload(payload: Payload): Redacted {
  const kept: { [key: string]: RedactedJson | undefined } = { ...payload };
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
    return [name, value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))];
  });
  return sizes.reduce((largest, next) => (next[1] > largest[1] ? next : largest), ['', 0]);
}

/** Only of known callers: unknown callers must not choose what the log contains, or how much. */
function describeArguments(call: KnownFacts, redactor: Redactor): RedactedJson | undefined {
  const value = call.arguments?.value ?? call.rawArguments;
  if (value === undefined || call.session === undefined) return undefined;
  if (countValues(value, mostValues) === mostValues) return ownText(`[${mostValues} values or more]`);
  return redactor.redactJson(hideMembers(value, secretMembers(call, value)));
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

function showConsent({ by, how, atMs, binding, use }: Consent): RedactedJson {
  const task = use?.kind === 'task' ? { task: ownText(use.taskId) } : {};
  return { by: ownText(by), how: ownText(how), at_ms: atMs, binding: ownText(binding), ...task };
}

const longestTarget = 300;

/** The destinations that were asked for, as a record keeps them. Programs choose these texts, so they are redacted. */
export function describeNetwork(log: NetworkLog | undefined, redactor: Redactor): Payload | undefined {
  if (log === undefined || log.isEmpty) return undefined;
  const network = log.entries.map(({ outcome, target, times }) => ({
    outcome: ownText(outcome),
    target: keepText(target, redactor, longestTarget),
    times,
  }));
  return { network, ...(Object.keys(log.beyond).length === 0 ? {} : { network_more: { ...log.beyond } }) };
}
