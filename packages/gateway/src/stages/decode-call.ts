import { randomUUID } from 'node:crypto';
import type { Begun, Chained, Decoded } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Violation } from '../call/refusal.ts';
import type { Stage } from '../call/stage.ts';

const longestIdentifierBytes = 256;
const longestTimeoutMs = 3_600_000;

/** Reads the shape of the call, its identifiers and its trace. What costs more waits until the caller is known. */
export const decodeCall: Stage<Begun & Chained, Decoded> = {
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
    if (call.requestId === '') call.requestId = call.callId;
    call.traceId = call.step?.parent.traceId ?? readTraceId(call.traceparent) ?? randomUUID().replaceAll('-', '');
    return undefined;
  },
};

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

const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const onlyZeros = /^0+$/;

/** The trace id of a W3C `traceparent`, or undefined when it is absent or not valid. */
function readTraceId(traceparent = ''): string | undefined {
  const [, version = 'ff', traceId = '', parentId = '', more] = traceparentForm.exec(traceparent) ?? [];
  // ff is no version, and only later versions than 00 may say more.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return onlyZeros.test(traceId) || onlyZeros.test(parentId) ? undefined : traceId;
}
