import type { JsonObject } from '@sallyport/contract';
import { makeVisible } from '@sallyport/contract';
import { cutText } from '../../call/redacted.ts';
import type { RedactText } from '../../call/redacted.ts';
import type { DecidedRequest } from '../../upstreams/requests/answer-request.ts';

/** A request outside of any call, like one before it, is counted for so long and not written down by itself. */
const recordEveryMs = 60_000;
const longestMethod = 100;
const longestReason = 500;
const mostKinds = 1000;

/**
 * Puts what upstream servers ask for on record, with the rule that decided. Within a call every request is, because a
 * call has a bounded number of them; a server that asks by itself could otherwise fill the log.
 */
export function requestRecorder(
  record: (payload: JsonObject) => void,
  redact: RedactText,
  nowMs: () => number = Date.now,
): (request: DecidedRequest) => void {
  const kinds = new Map<string, { readonly atMs: number; unrecorded: number }>();
  return ({ upstream, method: asked, decision, reason, rule, callId }) => {
    const method = cutText(redact(makeVisible(asked)), longestMethod);
    const key = `${upstream} ${method} ${decision}`;
    const known = kinds.get(key);
    if (callId === undefined && known !== undefined && nowMs() - known.atMs < recordEveryMs) {
      known.unrecorded += 1;
      return;
    }
    if (callId === undefined) {
      // A server that asks for ever new things is on record with the first of them.
      if (kinds.size >= mostKinds) kinds.clear();
      kinds.set(key, { atMs: nowMs(), unrecorded: 0 });
    }
    record({
      event: `upstream_request_${decision}`,
      ...{ upstream, method },
      reason: cutText(redact(makeVisible(reason)), longestReason),
      ...(rule === undefined ? {} : { rule: rule.id }),
      ...(rule?.file === undefined ? {} : { file: rule.file, line: rule.line ?? 0 }),
      ...(callId === undefined ? {} : { call_id: callId }),
      ...(known === undefined || callId !== undefined || known.unrecorded === 0
        ? {}
        : { unrecorded: known.unrecorded }),
    });
  };
}
