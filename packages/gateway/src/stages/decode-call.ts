import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { isJsonObject, parseStrictJson, StrictJsonError } from '@sallyport/contract';
import type { Begun, Decoded } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Refusal, Violation } from '../model/refusal.ts';
import type { Stage } from '../pipeline/stage.ts';

const longestIdentifierBytes = 256;
const longestTimeoutMs = 3_600_000;

/** Reads the shape of the call: identifiers, trace context, and the arguments as one JSON object. */
export function decodeCall({ maxArgumentBytes }: { readonly maxArgumentBytes: () => number }): Stage<Begun, Decoded> {
  return {
    name: 'decode-call',
    run: (call) => {
      const violations = checkShape(call);
      if (violations.length > 0) {
        const message = violations.map((violation) => violation.message).join('; ');
        return refuse('MALFORMED_CALL', 'call-shape', message, {
          violations,
          remedy: 'Send the call in the documented form.',
        });
      }
      const limit = maxArgumentBytes();
      // A character takes at least one byte, so the cheap test spares the exact one for almost every call.
      if (call.input.length > limit || (call.input.length > limit / 3 && Buffer.byteLength(call.input) > limit)) {
        return refuse('ARGUMENTS_TOO_LARGE', 'argument-size', `The arguments are larger than ${limit} bytes.`, {
          remedy: 'Send less at once, for example by writing in parts with append.',
        });
      }
      const rawArguments = readArguments(call.input);
      if ('kind' in rawArguments) return rawArguments;
      return {
        requestId: call.requestId === '' ? randomUUIDv7() : call.requestId,
        traceId: readTraceId(call.traceparent) ?? randomUUID().replaceAll('-', ''),
        rawArguments: rawArguments.value,
      };
    },
  };
}

function checkShape(call: Begun): Violation[] {
  const violations: Violation[] = [];
  const identifiers = {
    name: call.toolName,
    request_id: call.requestId,
    dedupe_key: call.dedupeKey,
    'context.task_id': call.taskId,
    'context.correlation_id': call.correlationId,
    confirm_binding: call.confirmBinding,
  };
  for (const [field, value] of Object.entries(identifiers)) {
    if (value.length > longestIdentifierBytes || Buffer.byteLength(value) > longestIdentifierBytes) {
      violations.push({
        field,
        rule: 'max_length',
        message: `${field} is longer than ${longestIdentifierBytes} bytes`,
      });
    }
    if (!value.isWellFormed()) violations.push({ field, rule: 'utf8', message: `${field} is not valid Unicode` });
  }
  if (call.toolName === '') violations.push({ field: 'name', rule: 'required', message: 'name is required' });
  const { timeoutMs } = call;
  if (timeoutMs > longestTimeoutMs) {
    violations.push({
      field: 'timeout_ms',
      rule: 'max',
      message: `timeout_ms is above ${longestTimeoutMs} (one hour)`,
    });
  } else if (!Number.isInteger(timeoutMs) || timeoutMs < 0) {
    violations.push({ field: 'timeout_ms', rule: 'min', message: 'timeout_ms is not a whole number of milliseconds' });
  }
  return violations;
}

function readArguments(input: string): { value: Decoded['rawArguments'] } | Refusal {
  try {
    const value = parseStrictJson(input === '' ? '{}' : input);
    if (isJsonObject(value)) return { value };
    return refuse('MALFORMED_ARGUMENTS', 'canonical-json', 'The arguments are not a JSON object.', {
      remedy: 'Send an object, such as {"path": "notes.md"}.',
    });
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    return refuse('MALFORMED_ARGUMENTS', 'canonical-json', `The arguments are not acceptable JSON: ${error.message}.`, {
      remedy: 'Send one JSON object without repeated keys, with numbers that a double can hold.',
    });
  }
}

const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const onlyZeros = /^0+$/;

/** The trace id of a W3C `traceparent`, or undefined when it is absent or not valid. */
function readTraceId(traceparent = ''): string | undefined {
  const [, version = 'ff', traceId = '', parentId = '', more] = traceparentForm.exec(traceparent) ?? [];
  // ff is no version, and only later versions than 00 may say more.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return onlyZeros.test(traceId) || onlyZeros.test(parentId) ? undefined : traceId;
}
