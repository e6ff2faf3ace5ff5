import { spellCount } from '@sallyport/contract';
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

/** How much of the log was looked at. */
interface Span {
  readonly records: number;
  readonly from?: string;
  readonly cut: boolean;
}

export interface Replayed extends Span {
  readonly in_force: string;
  /** Of the rules that decided again. */
  readonly hash: string;
  readonly decided: number;
  readonly undecidable: number;
  readonly changed: number;
  readonly ways: Readonly<Record<string, number>>;
  readonly calls: readonly {
    readonly index: number;
    readonly tool: string;
    readonly agent: string;
    readonly was: string;
    readonly was_rule: string;
    readonly would: string;
    readonly would_rule: string;
  }[];
}

/** What recorded calls would have met under other rules. */
export function replayPolicy({ rules, ...span }: ReplayOptions, context: CommandContext): Promise<number> {
  const given = rules === undefined ? {} : { rules: readRulesFolder(rules) };
  return runOperatorTool('policy.replay', { ...span, ...given }, context, (replayed: Replayed) => {
    const by = rules === undefined ? 'by the files' : `by the rules in ${makeVisibleLine(rules)}`;
    showReplay(replayed, by, context);
  });
}

/** `compared`: what the two answers of each call are called. */
export function showReplay(
  replayed: Replayed,
  by: string,
  { terminal }: CommandContext,
  compared: readonly [string, string] = ['THEN', 'NOW'],
): void {
  const { decided, undecidable, changed, ways, calls } = replayed;
  const { columns, paint, print } = terminal;
  const unsure = undecidable === 0 ? '' : ` ${undecidable} could not be decided again.`;
  const summary = `${spellCount(decided, 'recorded call')} decided again ${by}: ${changed} would change.${unsure}`;
  print(...wrapWords(summary, columns), ...wrapWords(describeSpan(replayed), columns));
  for (const [way, count] of Object.entries(ways)) print(`  ${String(count).padStart(7)}  ${makeVisibleLine(way)}`);
  if (calls.length === 0) return;
  const rows = calls.map((call) => [
    ...[String(call.index), call.tool, call.agent].map(makeVisibleLine),
    `${call.was} (${call.was_rule})`,
    '→',
    `${call.would} (${call.would_rule})`,
  ]);
  const [header = '', ...body] = renderTable(
    [['CALL', 'TOOL', 'AGENT', compared[0], '', compared[1]], ...rows],
    columns,
  );
  print('', paint('dim', header), ...body);
  if (calls.length < changed) print(paint('dim', `The newest ${calls.length} of ${changed}.`));
}

interface TriedRule {
  readonly rule_id: string;
  readonly effect?: string;
  readonly tried: boolean;
  readonly would_deny: number;
  readonly would_ask: number;
  readonly would_allow: number;
  readonly same: number;
  readonly first_at?: string;
  readonly last_at?: string;
}

/** What the rules that are only tried out would have done. */
export function showShadow(span: SpanOptions, context: CommandContext): Promise<number> {
  return runOperatorTool('policy.shadow', span, context, (counted: Span & { readonly rules: readonly TriedRule[] }) => {
    const { columns, paint, print } = context.terminal;
    const { rules } = counted;
    if (rules.length === 0)
      return print(...wrapWords('No rule is being tried out. Add `shadow: true` to a rule to try it out.', columns));
    const time = (text?: string): string => (text === undefined ? '-' : formatTime(Date.parse(text)));
    const rows = rules.map((rule) => [
      makeVisibleLine(rule.rule_id),
      rule.tried ? (rule.effect ?? '') : 'no longer tried',
      ...[rule.would_deny, rule.would_ask, rule.would_allow, rule.same].map(String),
      time(rule.first_at),
      time(rule.last_at),
    ]);
    const head = ['RULE', 'EFFECT', 'WOULD DENY', 'WOULD ASK', 'WOULD ALLOW', 'SAME', 'FIRST', 'LAST'];
    const [header = '', ...body] = renderWrappedTable([head, ...rows], columns);
    print(paint('dim', header), ...body, '', ...wrapWords(describeSpan(counted), columns));
    print('Put one in force with', `  ${context.commandName} policy promote RULE`);
  });
}

function describeSpan({ records, from, cut }: Span): string {
  const since = from === undefined ? '' : ` since ${formatTime(Date.parse(from))}`;
  return `Looked at ${spellCount(records, 'record')}${since}${cut ? '; older ones were left out' : ''}.`;
}
