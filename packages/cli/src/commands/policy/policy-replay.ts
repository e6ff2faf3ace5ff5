import { InvalidArgumentError } from 'commander';
import { spellCount } from '@sallyport/contract';
import type { InJson, LogSpan, PolicyReplay, PolicyShadow } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { file, parsed } from '../../command-table.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { readRulesFolder } from './policy-folder.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { printTable, renderTable, renderWrappedTable } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** How far back to look. */
export const spanOptions = {
  since: parsed('when', 'how far back: 30m, 2h or 7d ago, or a time such as 2026-03-01T14:00', parseSince),
  last: parsed('records', 'how many of the newest records to look at', parseRecords),
};

/** What recorded calls would have met under other rules. */
export const replayCommand = operatorCommand('replay', {
  help: 'decide recorded calls again by other rules, and show what would change',
  options: {
    ...spanOptions,
    rules: file('folder', 'use the rules in this folder; without it, the files as they are now'),
  },
  tool: 'policy.replay',
  input: ({ rules, ...span }) => ({ ...span, ...(rules === undefined ? {} : { rules: readRulesFolder(rules) }) }),
  print: (replayed: InJson<PolicyReplay>, context, { rules }) => {
    const by = rules === undefined ? 'by the files' : `by the rules in ${makeVisibleLine(rules)}`;
    showReplay(replayed, by, context);
  },
});

/** What the shadow rules would have done. */
export const shadowCommand = operatorCommand('shadow', {
  help: 'count what shadow rules would have done to recorded calls',
  options: spanOptions,
  tool: 'policy.shadow',
  print: ({ rules, span }: InJson<PolicyShadow>, { terminal, commandName }) => {
    const { columns, print } = terminal;
    if (rules.length === 0)
      return print(...wrapWords('No rule is being tried out. Add `shadow: true` to a rule to try it out.', columns));
    const time = (ms?: string): string => (ms === undefined ? '-' : formatTime(Number(ms)));
    const rows = rules.map(({ rule, effect, ...counts }) => [
      rule?.id ?? '',
      effect || 'no longer tried',
      ...[counts.wouldDeny, counts.wouldAsk, counts.wouldAllow, counts.same].map(String),
      time(counts.firstAtMs),
      time(counts.lastAtMs),
    ]);
    const header = ['RULE', 'EFFECT', 'WOULD DENY', 'WOULD ASK', 'WOULD ALLOW', 'SAME', 'FIRST', 'LAST'];
    printTable(terminal, header, rows, renderWrappedTable);
    print('', ...wrapWords(describeSpan(span), columns));
    print('Put one in force with', `  ${commandName} policy promote RULE`);
  },
});

/** `compared`: what the two answers of each call are called. */
export function showReplay(
  replayed: InJson<PolicyReplay>,
  by: string,
  { terminal }: CommandContext,
  compared: readonly [string, string] = ['THEN', 'NOW'],
): void {
  const { decided, undecidable, changed, ways, calls } = replayed;
  const { columns, paint, print } = terminal;
  const unsure = undecidable === 0 ? '' : ` ${undecidable} could not be decided again.`;
  const summary = `${spellCount(decided, 'recorded call')} decided again ${by}: ${changed} would change.${unsure}`;
  print(...wrapWords(summary, columns), ...wrapWords(describeSpan(replayed.span), columns));
  for (const { was, would, count } of ways) print(`  ${String(count).padStart(7)}  ${was} → ${would}`);
  if (calls.length === 0) return;
  const rows = calls.map((call) => [
    ...[call.index, call.tool, call.agent].map(makeVisibleLine),
    spellDecision(call.was),
    '→',
    spellDecision(call.would),
  ]);
  const [header = '', ...body] = renderTable(
    [['CALL', 'TOOL', 'AGENT', compared[0], '', compared[1]], ...rows],
    columns,
  );
  print('', paint('dim', header), ...body);
  if (calls.length < changed) print(paint('dim', `The newest ${calls.length} of ${changed}.`));
}

function spellDecision(decision: InJson<PolicyReplay>['calls'][number]['was']): string {
  return `${decision?.effect ?? ''} (${makeVisibleLine(decision?.ruleId ?? '')})`;
}

function describeSpan(span: InJson<LogSpan> | undefined): string {
  const { records = 0, fromAtMs, cut = false } = span ?? {};
  const since = fromAtMs === undefined ? '' : ` since ${formatTime(Number(fromAtMs))}`;
  return `Looked at ${spellCount(records, 'record')}${since}${cut ? '; older ones were left out' : ''}.`;
}

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `30m`, `2h`, `7d` ago, or a date or time as ISO 8601 has it. As ISO 8601. */
export function parseSince(given: string): string {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  const agoMs = count === undefined ? undefined : Number(count) * unitsMs[unit as keyof typeof unitsMs];
  const time = agoMs === undefined ? new Date(given) : new Date(Date.now() - agoMs);
  if (!Number.isNaN(time.getTime()) && (agoMs !== undefined || /^\d{4}-/.test(given))) return time.toISOString();
  throw new InvalidArgumentError('It must be like 30m, 2h or 7d ago, or a time like 2026-03-01T14:00.');
}

function parseRecords(given: string): number {
  if (!/^[1-9]\d{0,6}$/.test(given) || Number(given) > 1_000_000) {
    throw new InvalidArgumentError('It must be a whole number from 1 to 1000000.');
  }
  return Number(given);
}
