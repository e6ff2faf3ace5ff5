import { attempt } from '@sallyport/contract';
import { dropEntries, putEntry, readMember, setMember } from './edit-json.ts';

/** What a client runs at one event, in its own form. */
export type HookEntry = Readonly<Record<string, unknown>>;

/** The hooks that a client is given, by the events of the client. */
export interface HookPlan {
  /** As `sallyport hook` names the client. */
  readonly client: string;
  readonly hooks: Readonly<Record<string, HookEntry>>;
  /** What the file must say beside them. */
  readonly version?: number;
}

/**
 * Adds our hooks to the text of a settings file, and changes nothing else in it. An earlier form of them is replaced, such
 * as one that starts another Node. Throws SettingsUnclear.
 */
export function addHooks(text: string, { client, hooks, version }: HookPlan): string {
  const isOurs = (entry: unknown): boolean => isHookOf(client, entry);
  let edited = text;
  if (version !== undefined && readMember(text, ['version']) === undefined) {
    edited = setMember(edited, ['version'], version);
  }
  for (const [event, entry] of Object.entries(hooks)) edited = putEntry(edited, ['hooks', event], entry, isOurs);
  return edited;
}

/** What the text would be without them. Throws SettingsUnclear. */
export function dropHooks(text: string, { client, hooks }: HookPlan): string {
  const isOurs = (entry: unknown): boolean => isHookOf(client, entry);
  return Object.keys(hooks).reduce((rest, event) => dropEntries(rest, ['hooks', event], isOurs), text);
}

/** Whether all of them are there as they should be. Text that is not a settings file has no hooks. */
export function hasHooks(text: string, plan: HookPlan): boolean {
  return attempt(() => text.trim() !== '' && addHooks(text, plan) === text) ?? false;
}

/** Whether it starts our hook program for this client. */
export function isHookOf(client: string, entry: unknown): boolean {
  const written = JSON.stringify(entry) ?? '';
  return new RegExp(`sallyport[^"]* hook ${client}\\b`).test(written);
}
