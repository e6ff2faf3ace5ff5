import { exitCodes } from '@sallyport/contract/codes';
import type { InJson, InstalledTool, InstalledTools } from '@sallyport/contract';
import { describeArguments } from './describe-schema.ts';
import { CommandFailure, usageFailure } from '../../client/failure.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { StepFailed } from '../../client/run-steps.ts';
import type { Step } from '../../client/run-steps.ts';
import { renderFields } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';
import { parseObject } from './parse-object.ts';

type Fields = Readonly<Record<string, unknown>>;

export type ToolStanding = InJson<InstalledTool>;

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
    const { tools } = await step<InJson<InstalledTools>>('tools.status', reference);
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
  const { status, reason, file, sha256 } = standing;
  const definition = parseObject(standing.definitionJson);
  const asked = asFields(definition['asks_for']);
  const fields: [string, string][] = [
    // Beside a label like everything else: a line of it must not pass for one of ours.
    ['about', standing.description],
    ['status', reason === '' ? status : `${status}: ${reason}`],
    ['stderr', standing.stderr],
    ['file', file === '' ? '' : `${file}, sha256 ${sha256.slice(0, 16)}…`],
    ['command', asTexts(definition['command']).join(' ')],
    ['steps', spellSteps(definition['steps'])],
    ['arguments', spellArguments(asFields(definition['input_schema']))],
    ['asks for', spellRequests(asked)],
    ['says', spellProperties({ category: definition['category'], ...asked })],
    ['not used', spellUnknownKeys(definition)],
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

function spellAcceptance({ acceptedBy: by, acceptedAtMs: at, accepted }: ToolStanding): string {
  if (by === undefined) return '';
  return `${accepted ? '' : 'before it changed, '}by ${by}, ${formatTime(Number(at))}`;
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
    const note = goesOn === true ? ' (the pipeline continues if this fails)' : '';
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
  return lines.length === 0 ? '' : [...lines, 'It gets only what a rule grants.'].join('\n');
}

/** Keys of its description that the gate gives no meaning to. */
export function spellUnknownKeys({ unknown_keys: keys }: Fields): string {
  const named = asTexts(keys);
  return named.length === 0 ? '' : `${named.join(', ')} (the gate does not know these keys of its description)`;
}

function spellProperties(properties: Fields): string {
  const { risk, mutates, idempotent, confirmation, category } = properties;
  const modes = asTexts(properties['allowed_modes']);
  const [perHour, timeoutMs] = [properties['rate_limit_per_hour'], properties['timeout_ms']];
  const words = [
    typeof category === 'string' ? `category ${category}` : '',
    typeof risk === 'string' ? `${risk} risk` : '',
    mutates === undefined ? '' : mutates === true ? 'changes things' : 'only reads',
    idempotent === true ? 'repeatable' : '',
    typeof confirmation === 'string' ? `asks a person ${confirmation}` : '',
    properties['requires_approval'] === true ? 'requires approval' : '',
    modes.length === 0 ? '' : `only in ${modes.join(', ')}`,
    typeof perHour === 'number' ? `at most ${perHour} calls an hour` : '',
    typeof timeoutMs === 'number' ? `ends after ${timeoutMs} ms` : '',
  ];
  return words.filter((word) => word !== '').join(', ');
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function asTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
