import { spellCount } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { compareNaturally } from '@sallyport/contract/natural-order';
import type { CommandContext } from '../../command-context.ts';
import { foldEffect } from '../../terminal/confirm-effect.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { mostRecords, readCallsSince } from '../../client/read-calls.ts';
import type { LogStretch } from '../../client/read-calls.ts';
import { runSteps } from '../../client/run-steps.ts';
import type { Step } from '../../client/run-steps.ts';
import { fitColumns, renderFields, renderTable } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { countCalls } from './tool-metrics.ts';
import type { ToolMetrics } from './tool-metrics.ts';
import { parseToolReference, readStanding, renderDeclaration } from './tool-standing.ts';
import type { ToolStanding } from './tool-standing.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { InJson, InstalledTools, ToolDescriptor } from '@sallyport/contract';
import type { Given } from '../../command-table.ts';
import type { statusOptions } from './tool-commands.ts';

export type ToolStatusOptions = Given<typeof statusOptions>;

/** One line a tool: those that people installed, and all that were called. */
interface Row {
  readonly name: string;
  readonly version: string;
  readonly status: string;
  /** Why it is not ready. Empty: it is. */
  readonly reason: string;
  readonly metrics?: ToolMetrics;
}

/** How tools stand and how their calls went, counted from the log. */
export function showToolStatus(
  text: string | undefined,
  { hours }: ToolStatusOptions,
  context: CommandContext,
): Promise<number> {
  return runSteps(context, async (step) => {
    const client = context.openClient();
    const { tools: known } = await client.call('ToolService/ListAvailableTools', {});
    const canonical = new Map(known.flatMap(({ name, aliases }) => aliases.map((alias) => [alias, name])));
    const stretch = await readCallsSince(Date.now() - hours * 3_600_000, client);
    const metrics = countCalls(stretch.records, (name) => canonical.get(name) ?? name);
    if (text === undefined) await showAll(step, { known, metrics, stretch }, context);
    else await showOne(text, step, { known, metrics, stretch }, context);
    return exitCodes.success;
  });
}

interface Counted {
  readonly known: readonly InJson<ToolDescriptor>[];
  readonly metrics: ReadonlyMap<string, ToolMetrics>;
  readonly stretch: LogStretch;
}

async function showAll(step: Step, { known, metrics, stretch }: Counted, context: CommandContext): Promise<void> {
  const { tools: installed, skipped } = await step<InJson<InstalledTools>>('tools.status', {});
  const isInstalled = new Set(installed.map(({ name }) => name));
  const rows: Row[] = [
    ...installed.map(({ name, version, status, reason, stderr, isDefault }) => ({
      name,
      version,
      status,
      reason: [reason, lastLine(stderr)].filter((text) => text !== '').join(': '),
      // Calls are counted by name; the version that a name means stands for it.
      ...pick(isDefault ? metrics.get(name) : undefined),
    })),
    ...known
      .filter(({ name }) => metrics.has(name) && !isInstalled.has(name))
      .map(({ name, version, status }) => ({
        ...{ name, version, status, reason: '' },
        ...pick(metrics.get(name)),
      })),
  ].sort((a, b) => compareNaturally(a.name, b.name));
  const { terminal } = context;
  if (context.json) {
    terminal.print(visibleJson({ tools: rows, skipped, ...describeStretch(stretch) }));
    return;
  }
  terminal.print(...renderRows(rows, terminal), ...renderStretch(stretch, terminal));
  if (skipped.length === 0) return;
  terminal.print('', terminal.paint('yellow', 'In the tools folder, but not tools:'));
  terminal.print(
    ...renderFields(
      skipped.map(({ file, reason }) => [makeVisibleLine(file), makeVisibleLine(reason)]),
      terminal.columns,
    ),
  );
}

async function showOne(
  text: string,
  step: Step,
  { known, metrics, stretch }: Counted,
  context: CommandContext,
): Promise<void> {
  const { terminal } = context;
  const reference = parseToolReference(text);
  const { name } = reference;
  const builtIn = known.find((tool) => tool.name === name || tool.aliases.includes(name));
  const isInstalled = builtIn === undefined || ['executable', 'configured', 'pipeline'].includes(builtIn.origin);
  const standing = isInstalled ? await readStanding(reference, step) : undefined;
  const canonical = standing?.name ?? builtIn?.name ?? name;
  const counted = metrics.get(canonical);
  if (context.json) {
    const about = standing ?? { name: canonical, version: builtIn?.version ?? '', status: builtIn?.status ?? '' };
    terminal.print(visibleJson({ ...about, ...pick(counted), ...describeStretch(stretch) }));
    return;
  }
  if (standing !== undefined) terminal.print(...renderStanding(standing, terminal));
  else terminal.print(terminal.paint('bold', makeVisibleLine(canonical)));
  terminal.print('', terminal.paint('dim', 'Calls'), ...renderMetrics(counted, terminal));
  terminal.print(...renderStretch(stretch, terminal));
}

/** Where interpreters and shells say what went wrong. */
function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

function pick(metrics: ToolMetrics | undefined): { metrics?: ToolMetrics } {
  return metrics === undefined ? {} : { metrics };
}

function renderStanding(standing: ToolStanding, terminal: Terminal): string[] {
  const { acceptedAtMs, difference } = standing;
  const hasChanged = acceptedAtMs !== undefined && difference !== '';
  return [
    ...renderDeclaration(standing, terminal),
    ...(hasChanged ? ['', terminal.paint('dim', 'What changed'), ...foldEffect(difference, terminal)] : []),
  ];
}

function renderRows(rows: readonly Row[], { columns, paint }: Terminal): string[] {
  if (rows.length === 0) return ['No tool is installed, and none was called.'];
  const cells = rows.map(({ name, version, status, metrics }) => [
    makeVisibleLine(name),
    makeVisibleLine(version),
    makeVisibleLine(status),
    ...(metrics === undefined
      ? ['-', '', '', '', '', '']
      : [
          String(metrics.calls),
          String(metrics.failed),
          String(metrics.denied),
          String(metrics.asked),
          spellMs(metrics.durations?.p50Ms),
          spellMs(metrics.durations?.p99Ms),
        ]),
  ]);
  const header = ['TOOL', 'VERSION', 'STATUS', 'CALLS', 'FAILED', 'DENIED', 'ASKED', 'P50', 'P99'];
  const [first = '', ...body] = renderTable(
    // `tool status NAME` has all of it.
    fitColumns([header, ...cells], columns, ['VERSION', 'P50', 'ASKED']),
    columns,
  );
  const reasons = rows.flatMap(({ name, reason }): [string, string][] =>
    reason === '' ? [] : [[makeVisibleLine(name), makeVisibleLine(reason)]],
  );
  return [paint('dim', first), ...body, ...(reasons.length === 0 ? [] : ['']), ...renderFields(reasons, columns, '')];
}

function renderMetrics(metrics: ToolMetrics | undefined, { columns }: Terminal): string[] {
  if (metrics === undefined) return ['  none'];
  const { calls, succeeded, failed, denied, asked, reasons, durations, lastCallAtMs } = metrics;
  const fields: [string, string][] = [
    ['calls', `${calls}: ${succeeded} succeeded, ${failed} failed, ${denied} denied, ${asked} asked a person`],
    [
      'duration',
      durations === undefined
        ? ''
        : `p50 ${spellMs(durations.p50Ms)}, p99 ${spellMs(durations.p99Ms)}, longest ${spellMs(durations.maxMs)}`,
    ],
    [
      'reasons',
      Object.entries(reasons)
        .map(([code, count]) => `${count} × ${makeVisibleLine(code)}`)
        .join('\n'),
    ],
    ['last', formatTime(lastCallAtMs)],
  ];
  return renderFields(fields, columns);
}

/** What the numbers are about. */
function renderStretch({ records, fromMs, isWhole }: LogStretch, { paint }: Terminal): string[] {
  const bounded = isWhole ? '' : `; only the last ${mostRecords} records were read`;
  return [
    '',
    paint(
      'dim',
      `Counted from ${spellCount(records.length, 'record')} of the log since ${formatTime(fromMs)}${bounded}.`,
    ),
  ];
}

function describeStretch({ records, fromMs, isWhole }: LogStretch): object {
  return { sinceMs: String(fromMs), records: records.length, whole: isWhole };
}

function spellMs(durationMs: number | undefined): string {
  if (durationMs === undefined) return '';
  return durationMs < 10_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;
}
