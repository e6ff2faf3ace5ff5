import { randomUUIDv7 } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';
import { bindEffect, callSha256 } from '../approvals/bind-call.ts';
import { maskSecrets } from '../approvals/mask-secrets.ts';
import type { Rehearse, Rehearsed } from '../approvals/rehearsal.ts';
import { showArguments } from '../approvals/show-arguments.ts';
import { Call } from '../call/call.ts';
import type { ArgumentsChecked, Resolved } from '../call/call.ts';
import { follow } from '../call/cancellation.ts';
import { Fault } from '../call/fault.ts';
import type { Rehearsal } from '../gateway.ts';
import { redactRefusal } from '../redaction/redact-refusal.ts';
import type { Redactor } from '../redaction/redact.ts';

/** Sends planned calls through the gates as if they had just come in from a caller who is known. */
export function rehearseCalls(rehearsal: Rehearsal, redactor: Redactor): Rehearse {
  return async (session, { tool, arguments: args }, signal, before = []) => {
    const planned = new Call(
      {
        door: session.door ?? 'agent-socket',
        source: 'plan',
        toolName: tool,
        input: canonicalJson(args),
        requestId: '',
        timeoutMs: 0,
        dedupeKey: '',
        taskId: '',
        correlationId: '',
        confirmBinding: '',
      },
      { callId: randomUUIDv7(), startedAtMs: Date.now(), cancellation: follow(signal) },
    );
    const begun = Object.assign(planned, {
      session,
      traceId: '',
      // Nothing is admitted.
      basedOn: 0,
      foreseen: before.map((name) => ({ tool: name, startedAtMs: Date.now() })),
    });
    const ending = await rehearsal.run(begun, { nowMs: Date.now });
    if (ending.kind === 'faulted') throw new Fault('INTERNAL', `${ending.stage} failed`, { cause: ending.fault });
    if (ending.kind === 'refused') return redactRefusal(ending.refusal, ending.call, redactor);
    const { tool: found, arguments: checked, effect, verdict } = ending.call;
    const { name, risk } = found.definition;
    const { texts, masked, values } = maskSecrets([effect.summary, effect.detail], redactor);
    const [summary = '', detail = ''] = texts;
    return {
      tool: name,
      callSha256: callSha256(found.definition, checked.sha256),
      shownArguments: showArguments(ending.call, redactor),
      risk,
      effect: { summary, detail, undoable: effect.undoable },
      boundSha256: bindEffect(effect),
      askedBy: verdict.askedBy ?? [],
      ...describeReach(ending.call),
      masked,
      secrets: values,
    };
  };
}

/** Programs, and tools that name no paths, may change anything. */
function describeReach({ tool, resources }: Resolved & ArgumentsChecked): Pick<Rehearsed, 'changes' | 'dependsOn'> {
  const { mutates } = tool.definition;
  const { paths, commands = [] } = resources;
  const isOpen = paths.length === 0 || commands.length > 0;
  const changed = paths.filter(({ access }) => access === 'write').map(({ path }) => path);
  return {
    changes: !mutates ? [] : isOpen ? undefined : changed,
    dependsOn: isOpen ? undefined : paths.map(({ path }) => path),
  };
}
