import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseReport } from './messages.ts';
import type { Report } from './messages.ts';

const bytes = new Uint8Array([1]);
const end = { how: { kind: 'exited', code: 0 }, usage: { measuredBy: 'cgroup', cpuMs: 1 } } as const;
const reports: readonly Report[] = [
  { kind: 'ready', abilities: { sandbox: { usable: true, version: '0.8.0' }, limits: 'cgroup' } },
  { kind: 'ready', abilities: { sandbox: { usable: false, reason: 'r', remedy: 'm' }, limits: 'none' } },
  { kind: 'started', run: 1 },
  { kind: 'output', run: 1, stream: 'stderr', bytes },
  { kind: 'network', run: 1, events: [{ outcome: 'refused', target: 'a:443', times: 2 }] },
  { kind: 'ended', run: 1, end },
  { kind: 'ended', run: 1, end: { ...end, how: { kind: 'killed', signal: 'SIGKILL' } } },
  { kind: 'ended', run: 1, end: { ...end, how: { kind: 'limit', limit: 'cpuMs' } } },
  { kind: 'ended', run: 1, end: { ...end, how: { kind: 'aborted' } } },
  { kind: 'not-started', run: 1, code: 'TOOL_MISSING', message: 'm', isTransient: true, remedy: undefined },
];

test('every report of a spawner is understood', () => {
  for (const report of reports) assert.deepEqual(parseReport(structuredClone(report)), report);
});

test('a report with any field exchanged for something else is refused or harmless, and never throws', () => {
  fc.assert(
    fc.property(fc.constantFrom(...reports), fc.nat(), fc.anything(), (report, at, junk) => {
      const fields = Object.entries(report);
      const [name] = fields[at % fields.length] as [string, unknown];
      parseReport({ ...report, [name]: junk });
    }),
  );
});

test('what is no report is refused', () => {
  const wrong: readonly unknown[] = [
    undefined,
    null,
    'ready',
    { kind: 'ready' },
    { kind: 'started' },
    { kind: 'output', run: 1, stream: 'stdin', bytes },
    { kind: 'output', run: 1, stream: 'stdout', bytes: 'text' },
    { kind: 'ended', run: 1, end: {} },
    { kind: 'ended', run: 1, end: { ...end, how: { kind: 'limit', limit: 'patience' } } },
    { kind: 'ended', run: 1, end: { ...end, usage: { cpuMs: Number.NaN } } },
    { kind: 'network', run: 1, events: [{ outcome: 'other', target: 'a:443', times: 1 }] },
    { kind: 'not-started', run: 1, code: 'INTERNAL', message: 'm' },
    { kind: 'other', run: 1 },
  ];
  for (const message of wrong) assert.equal(parseReport(message), undefined, JSON.stringify(message));
});
