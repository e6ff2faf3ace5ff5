import { join } from 'node:path';
import { deriveUseId } from '@sallyport/gateway';
import { readOpencode } from './read-opencode.ts';
import { findTranscripts, readLastLines } from './read-lines-of.ts';
import { describeInput, fieldsOf, listOf, parseFields, saysBlocked, textOf, timeOf } from './told-use.ts';
import type { ToldUse } from './told-use.ts';

type Fields = Readonly<Record<string, unknown>>;
type Environment = Readonly<Record<string, string | undefined>>;

const mostUses = 5000;

/** What a client tells about its uses of tools since a time, the newest first, as much as fits. Never throws. */
export function readTranscripts(
  client: string,
  home: string,
  environment: Environment,
  sinceMs: number,
): readonly ToldUse[] {
  const reader = readers[client];
  if (reader === undefined) return [];
  const uses = reader(home, environment).filter(({ atMs, useId }) => atMs >= sinceMs && useId !== '');
  const byId = new Map(uses.map((use) => [`${use.session} ${use.useId}`, use]));
  return [...byId.values()].sort((one, other) => other.atMs - one.atMs).slice(0, mostUses);
}

/** Clients that are not here keep no transcripts that the gate can read. */
const readers: Readonly<Record<string, (home: string, environment: Environment) => readonly ToldUse[]>> = {
  'claude-code': (home, { CLAUDE_CONFIG_DIR: folder }) =>
    readFiles(join(folder || join(home, '.claude'), 'projects'), /\.jsonl$/, readClaude),
  codex: (home, { CODEX_HOME: folder }) =>
    readFiles(join(folder || join(home, '.codex'), 'sessions'), /^rollout-.*\.jsonl$/, readCodex),
  gemini: (home) => readFiles(join(home, '.gemini', 'tmp'), /^session-.*\.jsonl$/, readGemini),
  opencode: (home, { XDG_DATA_HOME: folder }) =>
    readOpencode(join(folder || join(home, '.local', 'share'), 'opencode', 'opencode.db')),
};

function readFiles(folder: string, ending: RegExp, read: (lines: readonly Fields[]) => readonly ToldUse[]) {
  return findTranscripts(folder, ending).flatMap((file) =>
    read(readLastLines(file).flatMap((line): readonly Fields[] => [parseFields(line) ?? {}])),
  );
}

function readClaude(lines: readonly Fields[]): readonly ToldUse[] {
  const blocks = (line: Fields) => listOf(fieldsOf(line['message'])['content']);
  const results = new Map(lines.flatMap(blocks).map((block) => [textOf(block['tool_use_id']), block['content']]));
  return lines.flatMap((line) =>
    blocks(line)
      .filter(({ type, name }) => type === 'tool_use' && !textOf(name).startsWith('mcp__sallyport__'))
      .map((block) => ({
        session: textOf(line['sessionId']),
        useId: textOf(block['id']),
        tool: textOf(block['name']),
        what: describeInput(block['input']),
        atMs: timeOf(line['timestamp']),
        blocked: saysBlocked(results.get(textOf(block['id']))),
        version: textOf(line['version']),
      })),
  );
}

/** Its own bookkeeping, which touches nothing. */
const ofCodexItself = /^(?:update_plan|request_user_input|get_goal|create_goal|update_goal|mcp__sallyport__.*)$/;

function readCodex(lines: readonly Fields[]): readonly ToldUse[] {
  const items = lines.map((line) => ({ at: line['timestamp'], type: line['type'], item: fieldsOf(line['payload']) }));
  const meta = items.find(({ type }) => type === 'session_meta')?.item ?? {};
  const results = new Map(items.map(({ item }) => [textOf(item['call_id']), item['output']]));
  return items
    .filter(
      ({ type, item }) =>
        type === 'response_item' && /^(?:function|custom_tool|local_shell)_call$/.test(textOf(item['type'])),
    )
    .filter(({ item }) => !ofCodexItself.test(textOf(item['name'])))
    .map(({ at, item }) => ({
      session: textOf(meta['id']),
      useId: textOf(item['call_id']),
      tool: textOf(item['name']) || textOf(item['type']),
      what: describeInput(parseFields(textOf(item['arguments'])) ?? { command: item['input'] }),
      atMs: timeOf(at),
      blocked: saysBlocked(results.get(textOf(item['call_id']))),
      version: textOf(meta['cli_version']),
    }));
}

function readGemini(lines: readonly Fields[]): readonly ToldUse[] {
  const session = textOf(lines.find((line) => line['sessionId'] !== undefined)?.['sessionId']);
  return lines.flatMap((line) =>
    listOf(line['toolCalls'])
      .filter(({ name }) => !textOf(name).startsWith('mcp_sallyport_'))
      .map((call) => ({
        session,
        // It has ids here and gives none to hooks.
        useId: deriveUseId(session, textOf(call['name']), fieldsOf(call['args']) as never),
        tool: textOf(call['name']),
        what: describeInput(call['args']),
        atMs: timeOf(call['timestamp'] ?? line['timestamp']),
        blocked: saysBlocked(call['result']),
      })),
  );
}
