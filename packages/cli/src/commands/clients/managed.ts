import { join } from 'node:path';
import { stringify } from 'smol-toml';
import { exitCodes } from '@sallyport/contract/codes';
import { diffLines } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { seekConsent } from '../../client/run-steps.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { addHooks, dropHooks } from './edit-hooks.ts';
import type { HookPlan } from './edit-hooks.ts';
import { setMember } from './edit-json.ts';
import { holdInitLock } from './init-lock.ts';
import { KeptSettings } from './kept-settings.ts';
import type { KnownClient } from './known-clients.ts';
import { findClients } from './own-program.ts';

interface ManagedFile {
  readonly client: string;
  readonly file: string;
  readonly edit: (text: string) => string;
  readonly takeOut: (text: string) => string | undefined;
}

interface ManagedOptions {
  readonly client?: readonly string[];
  readonly undo?: boolean;
  readonly yes?: boolean;
}

/** Hooks for every user of this machine, which no settings of a user switch off. */
export async function runManaged(options: ManagedOptions, context: CommandContext): Promise<number> {
  if (process.getuid?.() !== 0) {
    throw usageFailure('Only root can write settings for every user of this machine.', 'Run it with sudo.');
  }
  const { terminal, json, config } = context;
  const files = listManaged(findClients(context)).filter(({ client }) => options.client?.includes(client) ?? true);
  const unmanaged = options.client?.find((name) => !files.some(({ client }) => client === name));
  if (unmanaged !== undefined) throw usageFailure(`${unmanaged} has no managed settings that are known here.`);
  using _ = holdInitLock(config.home.folder);
  const kept = new KeptSettings(config.home.folder);
  const keptAs = (client: string): string => `managed-${client}`;
  if (options.undo === true) {
    await seekConsent('Remove the hooks for every user?', { yes: options.yes === true }, context);
    const undone = files.flatMap(({ client, takeOut }) =>
      kept.restore(keptAs(client), (_file, present) => takeOut(present)).map((each) => ({ client, ...each })),
    );
    if (json) terminal.print(visibleJson({ files: undone }));
    else if (undone.length === 0) terminal.print('Nothing had been changed.');
    else for (const { file, how } of undone) terminal.print(`${makeVisibleLine(file)}: ${how}`);
    return undone.some(({ how }) => how === 'changed') ? exitCodes.toolError : exitCodes.success;
  }
  const changing = files
    .map((each) => ({ ...each, before: kept.read(each.file)?.toString() ?? '' }))
    .map((each) => ({ ...each, after: each.edit(each.before) }))
    .filter(({ before, after }) => before !== after);
  if (!json) {
    for (const { before, after, file } of changing)
      terminal.print(...diffLines(before, after, file).split('\n').map(makeVisibleLine));
  }
  if (changing.length > 0)
    await seekConsent('Write these files for every user?', { yes: options.yes === true }, context);
  for (const { client, file, after } of changing) kept.replace(keptAs(client), file, after, { newMode: 0o644 });
  if (json) terminal.print(visibleJson({ files: changing.map(({ client, file }) => ({ client, file })) }));
  else {
    for (const { file } of files) terminal.print(`${makeVisibleLine(file)} is in force.`);
    terminal.print('Each user connects their projects with `sallyport init`. Until then their agents are blocked.');
  }
  return exitCodes.success;
}

function listManaged(clients: readonly KnownClient[]): readonly ManagedFile[] {
  const planOf = (name: string): HookPlan | undefined => {
    const content = clients.find((each) => each.name === name)?.hooks?.content;
    return content === undefined || 'all' in content ? undefined : content;
  };
  const claude = planOf('claude-code');
  const codex = planOf('codex');
  return [...(claude === undefined ? [] : [claudeFile(claude)]), ...(codex === undefined ? [] : [codexFile(codex)])];
}

function claudeFile(plan: HookPlan): ManagedFile {
  const file =
    process.platform === 'darwin'
      ? '/Library/Application Support/ClaudeCode/managed-settings.json'
      : '/etc/claude-code/managed-settings.json';
  return {
    ...{ client: 'claude-code', file },
    edit: (text) => addHooks(setMember(text, ['allowManagedHooksOnly'], true), plan),
    takeOut: (text) => dropHooks(text, plan),
  };
}

const opening = '# Written by `sallyport init --managed`, and taken away with --undo.';

/** Codex reads the whole file at once, and knows no way to keep somebody else's apart: one that is there stays. */
function codexFile({ hooks }: HookPlan): ManagedFile {
  const file = join('/etc/codex', 'requirements.toml');
  const own = `${opening}\n${stringify({
    allow_managed_hooks_only: true,
    features: { hooks: true },
    hooks: {
      managed_dir: '/etc/codex',
      ...Object.fromEntries(Object.entries(hooks).map(([event, entry]) => [event, [entry]])),
    },
  })}\n`;
  return {
    ...{ client: 'codex', file },
    edit: (text) => {
      if (text.trim() === '' || text.startsWith(opening)) return own;
      throw usageFailure(
        `${file} already exists, and Sallyport cannot tell how to add to it.`,
        'Add by hand what `sallyport init --managed --client codex` writes on a machine without it.',
      );
    },
    takeOut: () => undefined,
  };
}
