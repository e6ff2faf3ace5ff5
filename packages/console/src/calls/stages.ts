import { readPayload } from '../live/call.ts';
import type { Call, Payload } from '../live/call.ts';

/** The gates of a call in their order, each with what it asks. */
export const stages = [
  ['decode-call', 'Is it a call?'],
  ['open-session', 'Who is calling?'],
  ['read-arguments', 'Are the arguments strict JSON, and not too large?'],
  ['resolve-tool', 'Which tool is it?'],
  ['check-arguments', 'Do the arguments fit the tool?'],
  ['check-lease', 'May this session use it?'],
  ['check-permission', 'Does its role permit it?'],
  ['check-mode', 'May it be used in this mode?'],
  ['judge-call', 'What do the rules say?'],
  ['check-sandbox', 'Can it run in a sandbox?'],
  ['break-loop', 'Does it only repeat itself?'],
  ['reuse-result', 'Was it done before?'],
  ['check-limits', 'Is it within limits and budget?'],
  ['seek-approval', 'Does a person agree?'],
  ['await-turn', 'Is there a place among the running calls?'],
  ['admit-call', 'Charged, and written into the log'],
  ['confirm-standing', 'Are session, mode and rules still the same?'],
  ['report-start', 'Those who watch are told'],
  ['execute-tool', 'The effect'],
  ['check-result', 'Does the result fit the tool?'],
  ['store-content', 'What is delivered'],
  ['compare-result', 'Is this the same result again and again?'],
] as const;

export type StageName = (typeof stages)[number][0];

export interface StageReport {
  readonly name: StageName;
  readonly asks: string;
  readonly verdict: 'passed' | 'waiting' | 'refused' | 'failed' | 'running' | 'not reached';
  /** What the record says about it. Empty: nothing beyond the verdict. */
  readonly note: string;
}

/** What each gate made of the call, as far as the records tell. */
export function reportStages(call: Call): readonly StageReport[] {
  const payloads = call.records.map(readPayload);
  const facts = Object.assign({}, ...payloads) as Payload;
  const end = endOf(call, facts);
  const endAt = stages.findIndex(([name]) => name === end.stage);
  return stages.map(([name, asks], at) => {
    if (at > endAt && endAt >= 0) return { name, asks, verdict: 'not reached', note: '' };
    if (at === endAt) return { name, asks, verdict: end.verdict, note: end.note };
    return { name, asks, verdict: 'passed', note: noteOf(name, facts) };
  });
}

interface End {
  /** Where the call ended. Empty: it went all the way. */
  readonly stage: string;
  readonly verdict: StageReport['verdict'];
  readonly note: string;
}

function endOf({ outcome }: Call, { refusal, fault, error }: Payload): End {
  if (refusal !== undefined) {
    const verdict = outcome === 'waiting' ? 'waiting' : 'refused';
    return { stage: refusal.stage ?? '', verdict, note: refusal.message ?? '' };
  }
  if (fault !== undefined) return { stage: fault.stage ?? '', verdict: 'failed', note: 'The gate itself failed here.' };
  if (error !== undefined) return { stage: 'execute-tool', verdict: 'failed', note: error.message ?? '' };
  if (outcome === 'running') return { stage: 'execute-tool', verdict: 'running', note: '' };
  if (outcome === 'unknown') {
    return { stage: 'execute-tool', verdict: 'failed', note: 'The daemon ended before the outcome was known.' };
  }
  return { stage: '', verdict: 'passed', note: '' };
}

function noteOf(
  name: StageName,
  { agent, principal, tool, version, mode, decision, consent, summary }: Payload,
): string {
  switch (name) {
    case 'open-session':
      return [principal, agent].filter(Boolean).join(' ');
    case 'resolve-tool':
      return [tool, typeof version === 'string' ? version : ''].filter(Boolean).join(' ');
    case 'check-mode':
      return mode ?? '';
    case 'judge-call':
      return decision?.reason || (decision === undefined ? '' : `Rule ${decision.rule_id ?? ''} decided it.`);
    case 'seek-approval':
      return consent === undefined
        ? 'Nobody had to be asked.'
        : `${consent.by ?? ''}: ${(consent.how ?? '').replaceAll('-', ' ')}`;
    case 'execute-tool':
      return summary ?? '';
    default:
      return '';
  }
}
