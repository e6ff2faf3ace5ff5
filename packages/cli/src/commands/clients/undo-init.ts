import { realpathSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { Step } from '../../client/run-steps.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { readConnection, removeConnection } from './connection-file.ts';
import { KeptSettings } from './kept-settings.ts';
import type { Restored } from './kept-settings.ts';
import type { KnownClient } from './known-clients.ts';
import { takeOut } from './plan-client.ts';

interface Undone {
  readonly client: string;
  readonly files: readonly Restored[];
  /** Upstreams and secrets that the client had brought. They stay with the gate while a file could not be put back. */
  readonly removed: readonly string[];
  readonly stayed: readonly string[];
}

/** Puts the files of the clients back, and takes away from the gate what they had brought. */
export async function undoInit(
  clients: readonly KnownClient[],
  { yes = false }: { readonly yes?: boolean },
  context: CommandContext,
): Promise<number> {
  const { terminal, json, config } = context;
  const kept = new KeptSettings(config.home.folder);
  const brought = clients.flatMap(({ name }) => kept.brought(name).upstreams);
  if (!json && brought.length > 0) {
    terminal.print(`These upstreams go back to the clients, and their tokens into the settings: ${brought.join(', ')}`);
  }
  await seekConsent('Put the settings of the clients back as they were?', { yes }, context);
  return runSteps(context, async (step) => {
    const undone: Undone[] = [];
    for (const client of clients) undone.push(await undoClient(client, kept, step, context));
    if (json) terminal.print(visibleJson({ clients: undone }));
    else for (const line of undone.flatMap(spell)) terminal.print(makeVisibleLine(line));
    const isStuck = undone.some(({ files }) => files.some(({ how }) => how === 'changed'));
    return isStuck ? exitCodes.toolError : exitCodes.success;
  });
}

async function undoClient(
  client: KnownClient,
  kept: KeptSettings,
  step: Step,
  { config }: CommandContext,
): Promise<Undone> {
  const { name } = client;
  const { folder } = config.home;
  const { upstreams, secrets } = kept.brought(name);
  const files = kept.restore(name, takeOut(client, realpathSync(config.startFolder)));
  const isStuck = files.some(({ how }) => how === 'changed');
  const removed: string[] = [];
  const take = async (tool: string, what: string): Promise<void> => {
    // It may have been removed by hand.
    await step(tool, { name: what }, 'agreed').then(
      () => removed.push(what),
      () => undefined,
    );
  };
  // The settings have the tokens again, so that nothing is lost.
  if (!isStuck) {
    for (const upstream of upstreams) await take('upstreams.remove', upstream);
    for (const secret of secrets) await take('secrets.remove', secret);
    kept.forget(name);
  }
  for (const { sessionId } of readConnection(folder, name).sessions) {
    await step('sessions.end', { session_id: sessionId }, 'agreed').catch(() => undefined);
  }
  removeConnection(folder, name);
  return { client: name, files, removed, stayed: isStuck ? [...upstreams, ...secrets] : [] };
}

function spell({ client, files, removed, stayed }: Undone): readonly string[] {
  if (files.length === 0) return [`${client}: nothing had been changed.`];
  return [
    ...files.map(({ file, how }) => {
      if (how === 'restored') return `${client}: ${file} is as it was before.`;
      if (how === 'taken out')
        return `${client}: ${file} was changed by something else since; only what is ours was taken out.`;
      return `${client}: ${file} was changed by something else since, so it stays. Take "sallyport" out of it by hand.`;
    }),
    ...(removed.length === 0 ? [] : [`${client}: removed from the gate: ${removed.join(', ')}`]),
    ...(stayed.length === 0
      ? []
      : [`${client}: these stay in the gate, because their tokens are nowhere else: ${stayed.join(', ')}`]),
  ];
}
