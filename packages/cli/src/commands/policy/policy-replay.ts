import { spellCount } from '@sallyport/contract';
import type { InJson, LogSpan, PolicyReplay, PolicyShadow } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { readRulesFolder } from './policy-folder.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { renderTable, renderWrappedTable } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** How far back to look. */
export interface SpanOptions {
  readonly last?: number;
  readonly since?: string;
}

export interface ReplayOptions extends SpanOptions {
  /** A folder in place of the files of the gate. */
  readonly rules?: string;
}

/** What recorded calls would have met under other rules. */
export function replayPolicy({ rules, ...span }: ReplayOptions, context: CommandContext): Promise<number> {
  const given = rules === undefined ? {} : { rules: readRulesFolder(rules) };
  return runOperatorTool('policy.replay', { ...span, ...given }, context, (replayed: InJson<PolicyReplay>) => {
    const by = rules === undefined ? 'by the files' : `by the rules in ${makeVisibleLine(rules)}`;
    showReplay(replayed, by, context);
  });
}

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

/** What the rules that are only tried out would have done. */
export function showShadow(span: SpanOptions, context: CommandContext): Promise<number> {
  return runOperatorTool('policy.shadow', span, context, ({ rules, span: looked }: InJson<PolicyShadow>) => {
    const { columns, paint, print } = context.terminal;
    if (rules.length === 0)
      return print(...wrapWords('No rule is being tried out. Add `shadow: true` to a rule to try it out.', columns));
    const time = (ms?: string): string => (ms === undefined ? '-' : formatTime(Number(ms)));
    const rows = rules.map(({ rule, effect, ...counts }) => [
      makeVisibleLine(rule?.id ?? ''),
      effect || 'no longer tried',
      ...[counts.wouldDeny, counts.wouldAsk, counts.wouldAllow, counts.same].map(String),
      time(counts.firstAtMs),
      time(counts.lastAtMs),
    ]);
    const head = ['RULE', 'EFFECT', 'WOULD DENY', 'WOULD ASK', 'WOULD ALLOW', 'SAME', 'FIRST', 'LAST'];
    const [header = '', ...body] = renderWrappedTable([head, ...rows], columns);
    print(paint('dim', header), ...body, '', ...wrapWords(describeSpan(looked), columns));
    print('Put one in force with', `  ${context.commandName} policy promote RULE`);
  });
}

function describeSpan(span: InJson<LogSpan> | undefined): string {
  const { records = 0, fromAtMs, cut = false } = span ?? {};
  const since = fromAtMs === undefined ? '' : ` since ${formatTime(Number(fromAtMs))}`;
  return `Looked at ${spellCount(records, 'record')}${since}${cut ? '; older ones were left out' : ''}.`;
}
