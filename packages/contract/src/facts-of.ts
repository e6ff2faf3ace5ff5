import type { Approval } from './gen/sallyport/v1/approval_service_pb.ts';
import type { InJson } from './in-json.ts';

/**
 * The fields of a message that say something, each in words, for a person: nested messages in line, lists joined, times as
 * `formatTime` writes them. What is empty or zero is left out.
 */
export function factsOf(message: object, formatTime: (ms: number) => string, suffix = ''): [string, string][] {
  return Object.entries(message).flatMap(([field, value]: [string, unknown]): [string, string][] => {
    const name = `${spellField(field)}${suffix}`;
    if (Array.isArray(value)) return value.length === 0 ? [] : [[name, value.join(' ')]];
    if (typeof value === 'object' && value !== null) {
      if ('names' in value) return [[name, (value.names as readonly string[]).join(' ')]];
      return factsOf(value, formatTime, field === 'spent' ? ' used' : suffix);
    }
    const text = String(value);
    if (text === '' || text === '0' || text === 'false') return [];
    return [[name, field.endsWith('AtMs') ? formatTime(Number(text)) : text]];
  });
}

type ShownApproval = Pick<
  InJson<Approval>,
  'approverRole' | 'assignedTo' | 'approverAgents' | 'workspace' | 'undoable'
>;

/** What else an approval says on its card, the same at every place where people decide. */
export function approvalFacts(approval: ShownApproval): [string, string][] {
  const { approverRole, assignedTo, approverAgents, workspace, undoable } = approval;
  const person = assignedTo === '' ? approverRole : `${approverRole} (${assignedTo})`;
  const decides = [person, ...approverAgents.map((name) => `agent ${name}`)].join(', ');
  return factsOf(
    { decides, workspace, undo: undoable ? 'possible, unless something else changes the files' : '' },
    String,
  );
}

/** `expiresAtMs` is `expires at`, and `maxCalls` is `max calls`. */
function spellField(field: string): string {
  return field.replace(/AtMs$/, 'At').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
