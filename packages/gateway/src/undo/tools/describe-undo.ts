import { constants } from 'node:fs';
import { relative } from 'node:path';
import { makeVisibleLine, spellCount } from '@sallyport/contract';
import { hasCode, isWithin } from '@sallyport/sandbox';
import type { EntryState } from '../../call/journal.ts';
import type { ToolContext } from '../../call/tool.ts';
import { readSmall } from '../../catalogue/files/file-bytes.ts';
import { FormerFile } from '../../catalogue/files/former-file.ts';
import { previewChange } from '../../catalogue/files/preview-change.ts';
import { isReference } from '../../catalogue/git/undo/repository-state.ts';
import type { Restored } from '../../catalogue/git/undo/restore-repository.ts';
import { pinEntry } from '../../paths/open-to-change.ts';
import type { JournalEntry } from '../../storage/stores.ts';
import { openPlace } from './foreseen-files.ts';
import type { Place } from './foreseen-files.ts';
import type { Conflict, ContextFor, Step, UndoPlan } from './plan-undo.ts';

/** Of a larger file only the sizes are shown. */
const mostShownBytes = 1024 * 1024;

/** What happens to a path: its first step starts from the current state, its last one leads to the final state. */
interface Way {
  readonly entry: JournalEntry;
  readonly path: string;
  readonly from: EntryState;
  readonly to: EntryState;
  readonly present?: Place;
  readonly source?: Place;
  readonly repository?: Step['repository'];
}

export function spellPath(path: string, { workingDirectory }: Pick<ToolContext, 'workingDirectory'>): string {
  return isWithin(workingDirectory, path) ? relative(workingDirectory, path) || '.' : path;
}

/** One line: what would happen, or that nothing would. */
export function summarizePlan({ steps, unchanged }: UndoPlan): string {
  if (steps.length === 0) return `Nothing to undo: ${spellCount(unchanged.length, 'path')} as before`;
  const paths = new Set(steps.map(({ path }) => path));
  const calls = new Set(steps.map(({ entry }) => entry.callId));
  return `Undo ${spellCount(calls.size, 'call')}: ${spellCount(paths.size, 'path goes', 'paths go')} back to what was there before`;
}

/** Every path with what happens to it, and the lines of text files that change. */
export function describePlan(plan: UndoPlan, contextFor: ContextFor): string {
  return waysOf(plan.steps)
    .map((way) =>
      way.repository === undefined
        ? describeWay(way, contextFor(way.entry))
        : describeRepository(way.path, way.repository.names, contextFor(way.entry)),
    )
    .join('');
}

/** Every name of a repository that changes, with its value. */
function describeRepository(top: string, names: Iterable<readonly [string, Restored]>, context: ToolContext): string {
  const path = spellPath(top, context);
  const lines = [...names].map(([name, { from, to }]) =>
    isReference(name)
      ? `  ${name}: ${spellReference(from)} becomes ${spellReference(to)}`
      : `  ${name === 'index' ? 'what is staged' : name}: becomes what it was before`,
  );
  return [`git repository ${path}:`, ...lines].map((line) => `${makeVisibleLine(line)}\n`).join('');
}

function spellReference(value: string | undefined): string {
  return value === undefined ? 'nothing' : value.replace(/^ref: /, '');
}

export function waysOf(steps: readonly Step[]): readonly Way[] {
  const ways = new Map<string, Way>();
  for (const { entry, path, from, to, present, source, repository } of steps) {
    const first = ways.get(path);
    ways.set(path, {
      entry,
      path,
      ...{ from: first?.from ?? from, to },
      ...(first === undefined ? present && { present } : first.present && { present: first.present }),
      ...(source && { source: source.now }),
      ...(repository && { repository }),
    });
  }
  return [...ways.values()];
}

export function nameWay({ from, to }: Pick<Way, 'from' | 'to'>): 'removed' | 'brought back' | 'restored' {
  if (to.kind === 'absent') return 'removed';
  return from.kind === 'absent' ? 'brought back' : 'restored';
}

/** What is there now, and what the undo that is refused would have made of it. */
export function describeConflict({ entry, now, source, names }: Conflict, contextFor: ContextFor): string {
  if (names !== undefined) {
    const shown = names.map((each) => [each.name, { from: each.now, to: each.to }] as const);
    return describeRepository(entry.path, shown, contextFor(entry));
  }
  const { path, before: to } = entry;
  const [present, from] = [now.at, now.state];
  const way = { entry, path, from, to, ...(present && { present }), ...(source && { source: source.now }) };
  return describeWay(way, contextFor(entry));
}

function describeWay(way: Way, context: ToolContext): string {
  const { from, to } = way;
  const path = spellPath(way.path, context);
  const head = `${makeVisibleLine(path)}: ${describeState(from)} becomes ${describeState(to)}\n`;
  const [before, after] = [readPlace(from, way.present, context), readPlace(to, way.source, context)];
  if (before === undefined || after === undefined) return head;
  const { detail } = previewChange(path, before, after);
  return `${head}${detail}`;
}

function describeState(state: EntryState): string {
  switch (state.kind) {
    case 'absent':
      return 'nothing';
    case 'file':
      return `a file of ${spellCount(state.sizeBytes, 'byte')}, mode ${state.mode.toString(8)}`;
    case 'folder':
      return 'an empty folder';
    case 'tree':
      return state.entries === 0 ? 'a folder' : `a folder with ${spellCount(state.entries, 'entry', 'entries')}`;
    case 'link':
      return `a link to ${makeVisibleLine(state.target)}`;
    case 'repository':
      return 'a git repository';
    case 'unknown':
      return 'something unknown';
  }
}

/** Undefined: it is no file, or too large to be shown. */
function readPlace(state: EntryState, place: Place | undefined, context: ToolContext): Buffer | undefined {
  if (state.kind === 'absent') return Buffer.alloc(0);
  if (state.kind !== 'file' || state.sizeBytes > mostShownBytes || place === undefined) return undefined;
  try {
    using target = openPlace(place, context);
    using pin = pinEntry(target.folder, target.name);
    if (pin === undefined) return undefined;
    using file = new FormerFile(pin.reopen(constants.O_RDONLY), pin.statExactly());
    return readSmall(file.fd, 0, state.sizeBytes);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}
