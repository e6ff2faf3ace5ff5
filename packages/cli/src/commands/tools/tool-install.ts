import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { InJson, InstalledTools } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { statusOf } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { CommandFailure, usageFailure } from '../../client/failure.ts';
import { fetchPackage, isPackageSpec } from './npm-package.ts';
import { chooseFileName, openProgramSource } from './program-source.ts';
import type { ProgramSource } from './program-source.ts';
import { runSteps, seekConsent, StepFailed } from '../../client/run-steps.ts';
import type { Step } from '../../client/run-steps.ts';
import { acceptStanding, showForConsent, tellAccepted } from './tool-accept.ts';
import type { ToolStanding } from './tool-standing.ts';
import { sendContent } from '../content/transfer-content.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { Given } from '../../command-table.ts';
import type { installOptions } from './tool-commands.ts';

export type ToolInstallOptions = Given<typeof installOptions>;

/** Shows what a program says about itself, asks, and puts it into the tools folder, accepted as it is. */
export function installTool(what: string, options: ToolInstallOptions, context: CommandContext): Promise<number> {
  return runSteps(context, async (step) => {
    await using opened = await openSource(what, options, context);
    const { source } = opened;
    const content = await uploadProgram(source, context);
    const standing = await inspectProgram(content, step);
    if (options.withoutSchema !== true) checkDescribed(standing);
    await showForConsent(standing, context);
    if (!context.json) for (const note of source.notes) context.terminal.note(note);
    await seekConsent('Install and accept it?', options, context);
    const accepted = await putIntoFolder(content, standing, step);
    if (context.json) context.terminal.print(visibleJson(accepted));
    else tellAccepted(accepted, context);
    return exitCodes.success;
  });
}

async function openSource(
  what: string,
  options: ToolInstallOptions,
  { terminal, json }: CommandContext,
): Promise<AsyncDisposable & { readonly source: ProgramSource }> {
  const isPacked = what.endsWith('.tgz');
  if (existsSync(what) && !isPacked) {
    if (options.bin !== undefined) throw usageFailure('--bin is for npm packages.');
    return { source: await openProgramSource(what, options), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  if (!isPackageSpec(what)) {
    throw usageFailure(`There is no file, folder or npm package ${makeVisibleLine(what)}.`);
  }
  if (!json) terminal.progress(`npm fetches ${makeVisibleLine(what)}, without running its scripts`);
  try {
    await using fetched = new AsyncDisposableStack();
    const { bin, openSource: open } = fetched.use(await fetchPackage(what, options));
    const source = await open(chooseFileName(bin.toLowerCase(), options.name));
    const kept = fetched.move();
    return { source, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  } finally {
    terminal.progress('');
  }
}

/** A program as it is in the content store. */
export interface UploadedProgram {
  readonly file_name: string;
  readonly content_hash: string;
  readonly kind: ProgramSource['kind'];
}

export async function uploadProgram(source: ProgramSource, context: CommandContext): Promise<UploadedProgram> {
  const client = context.openClient();
  const sent = await client.stream((target) => sendContent(target, Readable.from(source.read()), {}, () => undefined));
  if (statusOf(sent.answer) !== 'success') throw new StepFailed(sent.answer);
  return { file_name: source.fileName, content_hash: sent.hash, kind: source.kind };
}

/** What a program would be. Throws when it would be no tool. */
export async function inspectProgram(content: UploadedProgram, step: Step): Promise<ToolStanding> {
  const { tools, skipped } = await step<InJson<InstalledTools>>('tools.inspect', content);
  const [standing] = tools;
  if (standing === undefined) throw noTool(content.file_name, skipped);
  const { status, reason, stderr } = standing;
  if (status === 'missing-binary') throw noTool(content.file_name, [{ reason }, { reason: stderr }]);
  return standing;
}

/** A program that fails at the first question is broken more often than it is meant to be like that. */
function checkDescribed({ name, status, reason, stderr }: ToolStanding): void {
  if (status !== 'schema-unknown') return;
  const wrote = stderr === '' ? '' : `\nIt wrote:\n${stderr}`;
  throw new CommandFailure('NO_TOOL', exitCodes.toolError, `${name} is not installed: ${reason}.${wrote}`, {
    remedy: 'Fix its --schema and install it again. To install it as it is, add --without-schema.',
  });
}

/** Installs what was inspected and accepts exactly that. */
export async function putIntoFolder(
  content: UploadedProgram,
  { name, version, sha256 }: Pick<ToolStanding, 'name' | 'version' | 'sha256'>,
  step: Step,
): Promise<ToolStanding> {
  const { tools, skipped } = await step<InJson<InstalledTools>>('tools.install', content, 'agreed');
  const isThere = tools.some((tool) => tool.name === name && tool.version === version);
  if (!isThere) throw noTool(content.file_name, skipped);
  return acceptStanding({ name, version, sha256 }, step);
}

function noTool(file: string, found: readonly { readonly reason: string }[]): CommandFailure {
  const reasons = found.map(({ reason }) => reason).filter((reason) => reason !== '');
  const why = reasons.join('; ') || 'the daemon does not say why';
  return new CommandFailure('NO_TOOL', exitCodes.toolError, `${makeVisibleLine(file)} is not a tool: ${why}.`);
}
