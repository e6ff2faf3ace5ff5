import { exitCodes } from '@sallyport/contract/codes';
import { describeArguments } from './describe-schema.ts';
import { CommandFailure, usageFailure } from '../../client/failure.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { StepFailed } from '../../client/run-steps.ts';
import type { Step } from '../../client/run-steps.ts';
import { renderFields } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An installed tool, as `tools.status` and `tools.inspect` describe it. */
export interface ToolStanding {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly status: string;
  /** Absent: it is ready. */
  readonly reason?: string;
  /** What it wrote to standard error when it was asked for its schema. Absent: nothing. */
  readonly stderr?: string;
  readonly accepted: boolean;
  readonly is_default: boolean;
  readonly risk?: string;
  readonly mutates?: boolean;
  /** Absent, like its file and hash: its file is gone. */
  readonly origin?: string;
  readonly file?: string;
  readonly sha256?: string;
  readonly accepted_by?: string;
  readonly accepted_at?: string;
  /** What it says about itself. Absent in lists. */
  readonly definition?: Fields;
  /** To what was accepted before, as a diff. */
  readonly difference?: string;
}

export interface ToolStandings {
  readonly tools: readonly ToolStanding[];
  readonly skipped: readonly { readonly file: string; readonly reason: string }[];
}

export interface ToolReference {
  readonly name: string;
  /** Absent: the newest one that the command can be about. */
  readonly version?: string;
}

/** `name` or `name@version`. */
export function parseToolReference(text: string): ToolReference {
  const [name = '', version, ...more] = text.split('@');
  if (name === '' || version === '' || more.length > 0) {
    throw usageFailure(`Not the name of a tool: ${text}`, 'Give its name, or name@version.');
  }
  return version === undefined ? { name } : { name, version };
}

export async function readStanding(reference: ToolReference, step: Step): Promise<ToolStanding> {
  try {
    const { tools } = await step<ToolStandings>('tools.status', reference);
    const [standing] = tools;
    if (standing !== undefined) return standing;
  } catch (error) {
    if (!(error instanceof StepFailed && error.answer.error?.code === 'NOT_FOUND')) throw error;
  }
  const { name, version } = reference;
  const spelled = version === undefined ? name : `${name}@${version}`;
  throw new CommandFailure('NOT_FOUND', exitCodes.toolError, `There is no installed tool ${spelled}.`, {
    remedy: '`tool status` shows the installed tools, and the files in the tools folder that are not tools.',
  });
}

export function spellId({ name, version }: Pick<ToolStanding, 'name' | 'version'>): string {
  return makeVisibleLine(`${name}@${version}`);
}

/** What a tool says about itself and what the gate makes of it, for the person who decides about it. */
export function renderDeclaration(standing: ToolStanding, { columns, paint }: Terminal): string[] {
  const { definition = {}, status, reason = '', file = '', sha256 = '' } = standing;
  const asked = asFields(definition['asks_for']);
  const fields: [string, string][] = [
    // Beside a label like everything else: a line of it must not pass for one of ours.
    ['about', standing.description ?? ''],
    ['status', reason === '' ? status : `${status}: ${reason}`],
    ['stderr', standing.stderr ?? ''],
    ['file', file === '' ? '' : `${file}, sha256 ${sha256.slice(0, 16)}…`],
    ['command', asTexts(definition['command']).join(' ')],
    ['steps', spellSteps(definition['steps'])],
    ['arguments', spellArguments(asFields(definition['input_schema']))],
    ['asks for', spellRequests(asked)],
    ['says', spellProperties(asked)],
    ['counts as', spellProperties({ risk: standing.risk, mutates: standing.mutates })],
    ['accepted', spellAcceptance(standing)],
  ];
  return [
    `${paint('bold', makeVisibleLine(standing.name))} ${makeVisibleLine(standing.version)}`,
    ...renderFields(
      fields.map(([label, value]) => [label, value.split('\n').map(makeVisibleLine).join('\n')]),
      columns,
    ),
  ];
}

function spellAcceptance({ accepted_by: by, accepted_at: at, accepted }: ToolStanding): string {
  if (by === undefined) return '';
  return `${accepted ? '' : 'before it changed, '}by ${by}, ${formatTime(Date.parse(at ?? ''))}`;
}

function spellArguments(schema: Fields): string {
  const rows = describeArguments(schema).map(
    ({ name, type, need, description }) =>
      `${name} (${[type, need].filter((word) => word !== '').join(', ')})${description === '' ? '' : `: ${description.replaceAll('\n', ' ')}`}`,
  );
  return rows.length === 0 ? 'any object' : rows.join('\n');
}

/** Those of a pipeline, as they are written. */
function spellSteps(steps: unknown): string {
  const lines = (Array.isArray(steps) ? steps : []).map(asFields).map((step) => {
    const { id, tool, arguments: args = {}, continue: goesOn } = step;
    const note = goesOn === true ? ' (goes on if this fails)' : '';
    return `${String(id)}: ${String(tool)} ${JSON.stringify(args)}${note}`;
  });
  return lines.join('\n');
}

/** What it gets only where a rule grants it. */
function spellRequests(asked: Fields): string {
  const lists: readonly (readonly [key: string, verb: string])[] = [
    ['read', 'to read'],
    ['write', 'to change'],
    ['hosts', 'to reach'],
    ['environment', 'the variable'],
    ['secrets', 'the secret'],
  ];
  const limits = Object.entries(asFields(asked['limits'])).map(([name, limit]) => `${name} ${String(limit)}`);
  const lines = [
    ...lists.flatMap(([key, verb]) => asTexts(asked[key]).map((item) => `${verb} ${item}`)),
    ...(limits.length === 0 ? [] : [`limits: ${limits.join(', ')}`]),
    ...(asked['warm'] === true ? ['to be started ahead of its calls'] : []),
  ];
  return lines.length === 0 ? '' : [...lines, 'It gets of that what a rule grants.'].join('\n');
}

function spellProperties({ risk, mutates, idempotent, confirmation }: Fields): string {
  const words = [
    typeof risk === 'string' ? `${risk} risk` : '',
    mutates === undefined ? '' : mutates === true ? 'changes things' : 'only reads',
    idempotent === true ? 'repeatable' : '',
    typeof confirmation === 'string' ? `asks a person ${confirmation}` : '',
  ];
  return words.filter((word) => word !== '').join(', ');
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function asTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
