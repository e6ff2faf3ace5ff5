import { canonicalJson } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type * as facts from '../model/call.ts';
import type { Refusal } from '../model/refusal.ts';
import type { Redactor } from './redact.ts';

/** All facts that a record may tell, as far as the call came. */
export type KnownFacts = Partial<
  facts.Begun &
    facts.Decoded &
    facts.Opened &
    facts.Resolved &
    facts.ArgumentsChecked &
    facts.ModeRead &
    facts.Judged &
    facts.Consented
>;

const mostCharacters = 48_000;

/** Who called what, and what was decided: the part that intents and refusals share. */
export function describeCall(call: KnownFacts, redactor: Redactor): { [key: string]: Json } {
  const { session, tool, verdict, consent } = call;
  return {
    request_id: redactor.redactText(call.requestId ?? ''),
    ...optional('trace_id', call.traceId),
    ...optional('task_id', call.taskId && redactor.redactText(call.taskId)),
    ...optional('correlation_id', call.correlationId && redactor.redactText(call.correlationId)),
    ...optional('door', call.door),
    ...optional('agent', session?.agent),
    ...optional('principal', session?.principal),
    tool: tool?.definition.name ?? redactor.redactText((call.toolName ?? '').slice(0, 256)),
    ...(tool !== undefined && call.toolName !== tool.definition.name ? { tool_as_named: call.toolName ?? '' } : {}),
    ...optional('version', tool?.definition.version),
    ...optional('arguments_sha256', call.arguments?.sha256),
    ...describeArguments(call, redactor),
    ...optional('mode', call.mode),
    ...(verdict === undefined
      ? {}
      : {
          decision: { effect: verdict.effect, rule_id: verdict.rule.id, reason: redactor.redactText(verdict.reason) },
        }),
    ...(consent === undefined ? {} : { consent: { by: consent.by, how: consent.how, binding: consent.binding } }),
  };
}

export function describeRefusal(refusal: Refusal, stage: string, redactor: Redactor): Json {
  return {
    stage,
    code: refusal.code,
    rule_id: refusal.rule.id,
    message: redactor.redactText(refusal.message.slice(0, 2000)),
    ...(refusal.violations === undefined ? {} : { violations: refusal.violations.length }),
  };
}

/** The canonical text of a payload. What would not fit into a record gives way to a note of its size. */
export function encodePayload(payload: { [key: string]: Json }): string {
  const text = canonicalJson(payload);
  if (text.length <= mostCharacters) return text;
  const { arguments: dropped, ...rest } = payload;
  return canonicalJson({
    ...rest,
    arguments_omitted_characters: dropped === undefined ? 0 : canonicalJson(dropped).length,
  });
}

function describeArguments(call: KnownFacts, redactor: Redactor): { arguments?: Json } {
  const value = call.arguments?.value ?? call.rawArguments;
  return value === undefined ? {} : { arguments: redactor.redactJson(value) };
}

function optional(name: string, value: string | undefined): { [key: string]: Json } {
  return value === undefined || value === '' ? {} : { [name]: value };
}
