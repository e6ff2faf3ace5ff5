import type { Begun, Chained, Decoded } from '../call/call.ts';
import type { Redactor } from '../redaction/redact.ts';
import { refuse } from '../call/refusal.ts';
import type { Violation } from '../call/refusal.ts';
import type { Stage } from '../call/stage.ts';
import { parseTraceparent } from '../telemetry/trace-context.ts';

const longestIdentifierBytes = 256;
const longestTimeoutMs = 3_600_000;

/** Reads the shape of the call, its identifiers and its trace. More expensive checks wait until the caller is known. */
export function decodeCall(redactor: Pick<Redactor, 'hideHeld'>): Stage<Begun & Chained, Decoded> {
  return {
    name: 'decode-call',
    run: (call) => {
      const { step } = call;
      const traceparent = (call.traceparent?.length ?? 0) > longestIdentifierBytes ? '' : (call.traceparent ?? '');
      // A key of 32 hexadecimal digits is a valid trace id, and would be in every record.
      const isSecret = step === undefined && traceparent !== '' && redactor.hideHeld(traceparent) !== traceparent;
      const callerSpan = isSecret
        ? undefined
        : parseTraceparent(step === undefined ? traceparent : step.parent.traceparent);
      call.callerSpan = callerSpan;
      call.traceId = step?.parent.traceId ?? callerSpan?.traceId ?? traceOf(call.callId);
      const violations = checkShape(call);
      if (violations.length > 0) {
        const message = violations.map((violation) => violation.message).join('; ');
        return refuse('MALFORMED_CALL', 'call-shape', message, {
          violations,
          remedy: 'Send the call in the documented form.',
        });
      }
      if (call.requestId === '') call.requestId = call.callId;
      return undefined;
    },
  };
}

/** A call that belongs to no trace begins one, and its own id is as random as a trace needs. */
function traceOf(callId: string): string {
  return callId.replaceAll('-', '');
}

function checkShape(call: Begun): Violation[] {
  const violations: Violation[] = [];
  checkIdentifier(violations, 'name', call.toolName);
  checkIdentifier(violations, 'request_id', call.requestId);
  checkIdentifier(violations, 'dedupe_key', call.dedupeKey);
  checkIdentifier(violations, 'context.task_id', call.taskId);
  checkIdentifier(violations, 'context.correlation_id', call.correlationId);
  checkIdentifier(violations, 'confirm_binding', call.confirmBinding);
  checkIdentifier(violations, 'trace_id', call.callerTraceId ?? '');
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

function checkIdentifier(violations: Violation[], field: string, value: string): void {
  if (value.length > longestIdentifierBytes || Buffer.byteLength(value) > longestIdentifierBytes) {
    violations.push({ field, rule: 'max_length', message: `${field} is longer than ${longestIdentifierBytes} bytes` });
  }
  if (!value.isWellFormed()) violations.push({ field, rule: 'utf8', message: `${field} is not valid Unicode` });
}
