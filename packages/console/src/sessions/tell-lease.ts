import type { Lease } from '../daemon/messages.ts';
import { formatMoment } from '../text/format.ts';

const kinds = [
  ['paths', 'in'],
  ['hosts', 'to the hosts'],
  ['commands', 'the programs'],
  ['gitOperations', 'in git'],
  ['providers', 'from'],
  ['models', 'the models'],
] as const;

/** What a lease lets a session do, as the rest of a sentence about its agent. The rules may still say no. */
export function tellLease(lease: Lease | undefined): string {
  if (lease === undefined) return '';
  if (lease.status !== 'in force') return `can call nothing: its lease has ${lease.status}`;
  const { scope, expiresAtMs } = lease;
  const tools = scope?.tools ?? [];
  const isAll = tools.length === 0 || tools.includes('*');
  const limits = kinds.flatMap(([kind, word]) => {
    const names = scope?.[kind]?.names;
    return names === undefined ? [] : [`${word} ${names.length === 0 ? 'none' : names.join(', ')}`];
  });
  const until = expiresAtMs === undefined ? '' : ` until ${formatMoment(Number(expiresAtMs)).slice(0, 16)}`;
  return `may call ${[isAll ? 'every tool that the rules allow' : tools.join(', '), ...limits].join(', ')}${until}`;
}
