import { readFileSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from './command-context.ts';
import { describeError, usageFailure } from './failure.ts';
import { readInput } from './read-input.ts';
import { runOperatorTool } from './run-tool.ts';
import { renderFields, renderTable, renderWrappedTable } from './table.ts';
import { makeVisibleLine, visibleJson } from './visible-text.ts';

export interface ExplainOptions {
  readonly input?: string;
  readonly agent?: string;
  readonly as?: string;
  readonly mode?: string;
  readonly files?: boolean;
}

interface Rule {
  readonly rule_id: string;
  readonly file?: string;
  readonly line?: number;
}

interface Explained extends Rule {
  readonly effect: string;
  readonly reason: string;
  readonly remedy?: string;
  readonly code?: string;
  readonly mode: string;
  readonly mode_allows: boolean;
  readonly shadow?: Rule & { readonly effect: string };
  readonly considered: readonly (Rule & {
    readonly effect: string;
    readonly matches: boolean;
    readonly decides: boolean;
    readonly shadow?: boolean;
    readonly why?: string;
  })[];
}

interface Replayed {
  readonly decided: number;
  readonly undecidable: number;
  readonly changed: number;
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

/** Whether the rules in force are what the files say. */
export function showPolicy(context: CommandContext): Promise<number> {
  interface Status {
    readonly hash: string;
    readonly folder: string;
    readonly count: number;
    readonly files: 'applied' | 'changed' | 'broken';
    readonly problem?: string;
  }
  return runOperatorTool('policy.status', {}, context, ({ hash, folder, count, files, problem = '' }: Status) => {
    const { columns, print } = context.terminal;
    const say = {
      applied: 'as they are in force',
      changed: `changed; put them in force with ${context.commandName} policy apply`,
      broken: 'changed, and not valid; the rules in force stay',
    }[files];
    print(
      ...renderFields(
        [
          ['rules', `${count} in force`],
          ['version', hash],
          ['folder', makeVisibleLine(folder)],
          ['files', say],
          ['problem', makeLines(problem)],
        ],
        columns,
        '',
      ),
    );
  });
}

export function checkPolicy({ files = false }: { readonly files?: boolean }, context: CommandContext): Promise<number> {
  interface Checked {
    readonly count: number;
    readonly findings: readonly { readonly kind: string; readonly message: string }[];
  }
  const input = { rules: files ? 'files' : 'applied' };
  return runOperatorTool('policy.check', input, context, ({ count, findings }: Checked) => {
    const { columns, print } = context.terminal;
    if (findings.length === 0) return print(`${count} rules are valid, and nothing about them looks unintended.`);
    print(`${count} rules are valid. This may not be meant:`, '');
    print(
      ...renderWrappedTable(
        findings.map(({ kind, message }) => [kind, makeVisibleLine(message)]),
        columns,
      ),
    );
  });
}

export function explainPolicy(
  tool: string,
  pairs: readonly string[],
  options: ExplainOptions,
  context: CommandContext,
): Promise<number> {
  const { input, agent, as, mode, files } = options;
  const args = JSON.parse(readInput({ pairs, ...(input === undefined ? {} : { input }) }) || '{}') as object;
  const asked = {
    tool,
    arguments: args,
    ...(agent === undefined ? {} : { agent }),
    ...(as === undefined ? {} : { principal: as }),
    ...(mode === undefined ? {} : { mode: mode.toUpperCase() }),
    ...(files === true ? { rules: 'files' } : {}),
  };
  return runOperatorTool('policy.explain', asked, context, (explained: Explained) => showExplained(explained, context));
}

export function replayPolicy({ last }: { readonly last?: number }, context: CommandContext): Promise<number> {
  const input = last === undefined ? {} : { last };
  return runOperatorTool('policy.replay', input, context, (replayed: Replayed) => {
    const { decided, undecidable, changed, calls } = replayed;
    const { columns, paint, print } = context.terminal;
    const unsure = undecidable === 0 ? '' : ` ${undecidable} could not be decided again.`;
    print(`${decided} recorded calls decided again by the files: ${changed} would change.${unsure}`);
    if (calls.length === 0) return;
    const rows = calls.map((call) => [
      String(call.index),
      makeVisibleLine(call.tool),
      makeVisibleLine(call.agent),
      `${call.was} (${call.was_rule})`,
      `${call.would} (${call.would_rule})`,
    ]);
    const [header = '', ...body] = renderTable([['RECORD', 'TOOL', 'AGENT', 'WAS', 'WOULD BE'], ...rows], columns);
    print('', paint('dim', header), ...body);
  });
}

export function applyPolicy(context: CommandContext): Promise<number> {
  interface Applied {
    readonly hash: string;
    readonly count: number;
    readonly changed: boolean;
  }
  return runOperatorTool('policy.apply', {}, context, ({ hash, count, changed }: Applied) => {
    context.terminal.print(
      changed ? `${count} rules are in force, version ${hash}.` : `Nothing changed: the files are what is in force.`,
    );
  });
}

interface Case {
  readonly name?: string;
  readonly tool: string;
  readonly arguments?: object;
  readonly agent?: string;
  readonly as?: string;
  readonly mode?: string;
  readonly expect: string;
  readonly rule?: string;
}

/** Cases that a project keeps beside its rules: each says what is expected of one call. */
export async function testPolicy(
  file: string,
  options: { readonly files?: boolean },
  context: CommandContext,
): Promise<number> {
  const cases = await readCases(file);
  const client = context.openOperatorClient();
  const failures: string[] = [];
  for (const [at, each] of cases.entries()) {
    const { tool, arguments: args = {}, agent, as: principal, mode, expect, rule } = each;
    const asked = {
      tool,
      arguments: args,
      agent,
      principal,
      mode,
      rules: options.files === true ? 'files' : 'applied',
    };
    const answer = await client.executeTool({ name: 'policy.explain', inputJson: JSON.stringify(asked) });
    const said =
      answer.success?.outputJson === undefined ? undefined : (JSON.parse(answer.success.outputJson) as Explained);
    const found = said?.effect ?? `error: ${answer.error?.message ?? answer.denied?.message ?? 'no answer'}`;
    const isRight = found === expect && (rule === undefined || said?.rule_id === rule);
    if (isRight) continue;
    const wanted = rule === undefined ? expect : `${expect} by ${rule}`;
    failures.push(
      `${each.name ?? `case ${at + 1}`}: expected ${wanted}, but it is ${found} by ${said?.rule_id ?? '-'}`,
    );
  }
  const passed = cases.length - failures.length;
  const { print, note } = context.terminal;
  if (context.json) print(visibleJson({ passed, failed: failures.length, failures }));
  else {
    note(...failures.map(makeVisibleLine));
    print(`${passed} passed, ${failures.length} failed`);
  }
  return failures.length === 0 ? exitCodes.success : exitCodes.denied;
}

async function readCases(file: string): Promise<readonly Case[]> {
  const { parse } = await import('yaml');
  try {
    const { cases } = parse(readFileSync(file, 'utf8')) as { readonly cases?: unknown };
    if (!Array.isArray(cases)) throw new Error('there is no list under "cases"');
    return cases as readonly Case[];
  } catch (error) {
    throw usageFailure(`The cases cannot be read: ${describeError(error)}`, 'See docs/rules.md for their form.');
  }
}

function showExplained(explained: Explained, { terminal }: CommandContext): void {
  const { columns, paint, print } = terminal;
  const { effect, reason, remedy = '', mode, shadow, considered } = explained;
  const tone = effect === 'allow' ? 'green' : effect === 'deny' ? 'red' : 'yellow';
  print(
    paint(tone, effect),
    ...renderFields(
      [
        ['rule', placeOf(explained)],
        ['why', makeVisibleLine(reason)],
        ['mode', explained.mode_allows ? mode : `${mode}, in which the tool cannot be used at all`],
        ['tried', shadow === undefined ? '' : `${shadow.effect} by ${placeOf(shadow)}, which is only tried out`],
        ['remedy', makeVisibleLine(remedy)],
      ],
      columns,
    ),
    '',
    'Every rule, and what it has to do with the call:',
  );
  const rows = considered.map((rule) => [
    rule.decides ? '→' : ' ',
    rule.rule_id,
    rule.shadow === true ? `${rule.effect} (tried out)` : rule.effect,
    rule.matches ? 'matches' : makeVisibleLine(rule.why ?? ''),
  ]);
  print(...renderWrappedTable(rows, columns));
}

function placeOf({ rule_id: id, file, line }: Rule): string {
  return file === undefined ? id : `${id} (${makeVisibleLine(file)}:${line ?? 1})`;
}

function makeLines(text: string): string {
  return text.split('\n').map(makeVisibleLine).join('\n');
}
