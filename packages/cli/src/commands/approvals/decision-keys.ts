import type { ShownApproval } from './approval-card.ts';
import type { KeyReader } from '../../terminal/key-reader.ts';

/** The governed call that makes a decision. */
export interface Decision {
  readonly tool: 'approvals.approve' | 'approvals.deny';
  readonly input: object;
}

const minutesOffered = 15;
const usesOffered = 20;

/** What each key would do about this call. */
export function offerKeys({ risk }: Pick<ShownApproval, 'risk'>): readonly string[] {
  return [
    'a: approve once',
    ...(isModest(risk) ? ['s: for the session'] : []),
    ...(risk === 'critical' ? [] : [`t: for ${minutesOffered} minutes`]),
    ...(risk === 'critical' ? [] : ['A: always…']),
    'c: ask for changes',
    'd: deny',
    'n: later',
    'q: leave',
  ];
}

/** Offers beside each other, on as few lines as have room for them. */
export function layOutKeys(offers: readonly string[], columns: number): string {
  return offers.reduce((text, offer) => {
    const line = text.slice(text.lastIndexOf('\n') + 1);
    return `${text}${line.length + 2 + offer.length > columns ? '\n' : '  '}${offer}`;
  });
}

/** Undefined: the key decides nothing. */
export async function readDecision(
  key: string,
  { id: taskId, effectSha256: seen, risk, wanted: runs }: ShownApproval,
  keys: Pick<KeyReader, 'ask'>,
): Promise<Decision | undefined> {
  const approve = (standing?: object): Decision => {
    return { tool: 'approvals.approve', input: { task_id: taskId, effect_sha256: seen, runs, standing } };
  };
  switch (key) {
    case 'a':
      if (risk === 'critical' && (await keys.ask('This is critical. Type approve: ')) !== 'approve') return undefined;
      return approve();
    case 's':
      return isModest(risk) ? approve({ for_session: true }) : undefined;
    case 't':
      if (risk === 'critical') return undefined;
      return approve({ minutes: minutesOffered, ...(isModest(risk) ? {} : { uses: usesOffered }) });
    case 'c': {
      const note = await keys.ask('What should the agent change? ');
      return note === undefined ? undefined : { tool: 'approvals.deny', input: { task_id: taskId, note } };
    }
    case 'd':
      return { tool: 'approvals.deny', input: { task_id: taskId } };
    default:
      return undefined;
  }
}

function isModest(risk: string): boolean {
  return risk === 'low' || risk === 'medium';
}
