import { exitCodes } from '@sallyport/contract/codes';
import { CommandFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { quoteForShell } from '../../terminal/command-name.ts';
import { describeArguments, inventArguments } from './describe-schema.ts';
import { runSteps } from '../../client/run-steps.ts';
import { isJson } from '../../terminal/read-input.ts';
import { renderFields, renderWrappedTable } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { parseObject } from './parse-object.ts';
import { readStanding, spellUnknownKeys } from './tool-standing.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { InJson, ToolDescriptor } from '@sallyport/contract';

export async function showTool(name: string, context: CommandContext): Promise<number> {
  const client = context.openClient();
  const { tool } = await client.call('ToolService/GetToolSchema', { name });
  if (tool === undefined) throw new CommandFailure('BAD_ANSWER', exitCodes.toolError, 'The daemon gave no tool.');
  if (context.json) {
    context.terminal.print(visibleJson(tool));
    return 0;
  }
  context.terminal.print(...renderTool(tool, context));
  const isOwn = tool.origin === 'executable' || tool.origin === 'configured';
  if (!isOwn || client.role !== 'operator') return 0;
  return runSteps(context, async (step) => {
    const { reason, stderr, definitionJson } = await readStanding({ name: tool.name, version: tool.version }, step);
    const fields: [string, string][] = [
      ['why', reason],
      ['stderr', stderr],
      ['not used', spellUnknownKeys(parseObject(definitionJson))],
    ];
    const told = fields.filter(([, value]) => value !== '');
    if (told.length === 0) return 0;
    const shown = told.map(([label, value]): [string, string] => [label, spellLines(value)]);
    context.terminal.print('', ...renderFields(shown, context.terminal.columns));
    return 0;
  });
}

function spellLines(text: string): string {
  return text.split('\n').map(makeVisibleLine).join('\n');
}

function renderTool(tool: InJson<ToolDescriptor>, { terminal, commandName }: CommandContext): string[] {
  const { columns, paint } = terminal;
  const name = makeVisibleLine(tool.name);
  const schema = parseObject(tool.inputSchemaJson);
  const facts = [tool.mutates ? 'changes things' : 'only reads', tool.idempotent ? 'repeatable' : ''];
  const fields: [string, string][] = [
    ['aliases', tool.aliases.join(', ')],
    ['version', tool.version],
    ['risk', [tool.risk, ...facts].filter((fact) => fact !== '').join(', ')],
    ['asks', spellConfirmation(tool.confirmation)],
    ['origin', tool.origin === 'builtin' ? '' : tool.origin],
    ['status', tool.status],
    ['', tool.statusReason],
    ['timeout', `${tool.timeoutMs / 1000} s`],
    ['undo', tool.undo],
  ];
  const rows = describeArguments(schema).map((row) =>
    [row.name, row.type, row.need, row.description].map(makeVisibleLine),
  );
  return [
    paint('bold', name),
    ...wrapWords(makeVisibleLine(tool.description), columns),
    '',
    ...renderFields(
      fields.map(([label, value]) => [label, makeVisibleLine(value)]),
      columns,
    ),
    '',
    paint('dim', rows.length > 0 ? 'Arguments' : takesAny(schema) ? 'Takes any JSON object.' : 'Takes no arguments.'),
    ...renderWrappedTable(
      rows.map((row) => ['', ...row]),
      columns,
    ),
    '',
    paint('dim', 'Example'),
    ...exampleCalls(tool).map((args) => `  ${commandName} ${makeVisibleLine(spellInvocation(name, args))}`),
  ];
}

/** Whatever the tool says, a rule can ask as well; `policy explain` tells. */
function spellConfirmation(confirmation: string): string {
  if (confirmation === 'never') return 'if a rule does';
  return confirmation === 'always' ? 'always' : 'if the call destroys something, or a rule does';
}

/** Arguments to copy: those of its author, or else made up from its schema. */
export function exampleCalls({
  examplesJson,
  inputSchemaJson,
}: Pick<InJson<ToolDescriptor>, 'examplesJson' | 'inputSchemaJson'>): readonly Readonly<Record<string, unknown>>[] {
  if (examplesJson.length > 0) return examplesJson.map(parseObject);
  return [inventArguments(parseObject(inputSchemaJson))];
}

/** Nothing is said about the arguments, as of a program without a schema. */
function takesAny(schema: Readonly<Record<string, unknown>>): boolean {
  return schema['additionalProperties'] !== false;
}

/** `key=value` where the values read back as what they are, JSON otherwise. */
export function spellInvocation(name: string, args: Readonly<Record<string, unknown>>): string {
  const plain = Object.values(args).every(
    (value) => typeof value !== 'object' && !(typeof value === 'string' && (isJson(value) || value.includes('\n'))),
  );
  const words = plain
    ? Object.entries(args).map(([key, value]) => quoteForShell(`${key}=${String(value)}`))
    : ['--input', quoteForShell(JSON.stringify(args))];
  return ['tool invoke', name, ...words].join(' ');
}
