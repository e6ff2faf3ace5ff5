import { readFileSync } from 'node:fs';

/** How long the thread of this number, of the process of the other, has run so far, in milliseconds. */
export function readThreadMs(processId: number, threadId = processId): number {
  const [ranNs = '0'] = readFileSync(`/proc/${processId}/task/${threadId}/schedstat`, 'utf8').split(' ');
  return Number(ranNs) / 1e6;
}
