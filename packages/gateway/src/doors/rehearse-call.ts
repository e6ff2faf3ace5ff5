import { randomUUIDv7 } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';
import { callSha256 } from '../approvals/bind-call.ts';
import { maskSecrets } from '../approvals/mask-secrets.ts';
import type { Rehearse } from '../approvals/rehearsal.ts';
import { showArguments } from '../approvals/show-arguments.ts';
import type { Redactor } from '../audit/redact.ts';
import type { Rehearsal } from '../gateway.ts';
import { Fault } from '../model/fault.ts';

/** Sends planned calls through the gates as if they had just come in from a caller who is known. */
export function rehearseCalls(rehearsal: () => Rehearsal, redactor: Redactor): Rehearse {
  return async (session, { tool, arguments: args }, signal) => {
    const begun = {
      door: session.door ?? 'agent-socket',
      source: 'plan',
      toolName: tool,
      input: canonicalJson(args),
      requestId: '',
      timeoutMs: 0,
      dedupeKey: '',
      taskId: '',
      correlationId: '',
      traceId: '',
      confirmBinding: '',
      signal,
      session,
      callId: randomUUIDv7(),
      startedAtMs: Date.now(),
    } as const;
    const ending = await rehearsal().run(begun, { nowMs: Date.now });
    if (ending.kind === 'faulted') throw new Fault('INTERNAL', `${ending.stage} failed`, { cause: ending.fault });
    if (ending.kind === 'refused') return { ...ending.refusal, message: redactor.redactText(ending.refusal.message) };
    const { tool: found, arguments: checked, effect } = ending.call;
    const { name, risk } = found.definition;
    const { texts, masked, values } = maskSecrets([effect.summary, effect.detail], redactor);
    const [summary = '', detail = ''] = texts;
    return {
      tool: name,
      callSha256: callSha256(name, checked.sha256),
      shownArguments: showArguments(ending.call, redactor),
      risk,
      effect: { summary, detail, undoable: effect.undoable },
      masked,
      secrets: values,
    };
  };
}
