import { isJsonObject } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { malformed, readObject, readText } from '../http/json-fields.ts';
import type { HookClient, HookEvent, MappedCall } from './hook-event.ts';

/** Claude Code: PreToolUse, PostToolUse and what ends a turn. */
export const claudeCode: HookClient = {
  readEvent,
  present: (decision) => {
    if (decision.kind === 'none') return { exitCode: 0 };
    return {
      exitCode: 0,
      output: {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: decision.kind === 'rewrite' ? 'allow' : decision.kind,
          permissionDecisionReason: decision.reason,
          ...(decision.kind === 'rewrite' ? { updatedInput: decision.input } : {}),
        },
      },
    };
  },
};

/**
 * Codex sends the same. Of the answers it understands a denial with a reason, and an allowance that changes the input;
 * everything else goes on as it is.
 */
export const codex: HookClient = {
  readEvent,
  present: (decision) =>
    decision.kind === 'deny' || decision.kind === 'rewrite' ? claudeCode.present(decision) : { exitCode: 0 },
};

function readEvent(payload: JsonObject): HookEvent {
  const event = readText(payload, 'hook_event_name');
  const clientSession = readText(payload, 'session_id');
  switch (event) {
    case 'PreToolUse':
      return { kind: 'before', ...readUse(payload), call: mapCall(payload) };
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return { kind: 'after', ...readUse(payload), outcome: readOutcome(payload, event === 'PostToolUseFailure') };
    case 'Stop':
    case 'SubagentStop':
    case 'SessionEnd':
      return { kind: 'over', clientSession };
    default:
      return { kind: 'other' };
  }
}

function readUse(payload: JsonObject) {
  const use = {
    clientSession: readText(payload, 'session_id'),
    useId: readText(payload, 'tool_use_id'),
    cwd: readText(payload, 'cwd'),
  };
  if (use.clientSession === '' || use.useId === '' || !use.cwd.startsWith('/')) {
    throw malformed('The hook must name session_id, tool_use_id and an absolute cwd.');
  }
  return use;
}

function readOutcome(payload: JsonObject, isError: boolean) {
  const response = payload['tool_response'];
  const output: JsonObject = isJsonObject(response) ? response : { text: typeof response === 'string' ? response : '' };
  return { isError: isError || output['is_error'] === true || output['interrupted'] === true, output };
}

/** Tools of the gate itself come through its own door, and are judged there. */
const ownTools = /^mcp__sallyport__/;

function mapCall(payload: JsonObject): MappedCall | undefined {
  const name = readText(payload, 'tool_name');
  if (name === '') throw malformed('The hook names no tool.');
  if (ownTools.test(name)) return undefined;
  const input = readObject(payload, 'tool_input');
  const cwd = readText(payload, 'cwd');
  const text = (field: string): string => readText(input, field);
  switch (name) {
    case 'Bash':
      return {
        tool: 'shell.run',
        input: { command: text('command'), cwd },
        rewritten: (command) => ({ ...input, command }),
      };
    case 'Read':
    case 'NotebookRead':
      return { tool: 'files.read', input: { path: text('file_path') || text('notebook_path') } };
    case 'Write':
      return { tool: 'files.write', input: { path: text('file_path'), content: text('content') } };
    case 'Edit':
      return editOf(input);
    case 'Glob':
    case 'LS':
      return { tool: 'files.list', input: { path: text('path') || cwd } };
    case 'Grep':
      return {
        tool: 'files.search',
        input: {
          ...{ path: text('path') || cwd, content: text('pattern') || '.' },
          ...(text('glob') === '' ? {} : { name: text('glob') }),
        },
      };
    case 'apply_patch':
      return patchOf(text('command') || text('input'), cwd);
    default:
      return { tool: 'client.tool', input: { tool: name, input } };
  }
}

/** Our edit is of a passage that occurs once; any other one is judged as the tool of the client that it is. */
function editOf(input: JsonObject): MappedCall {
  const [path, from, to] = ['file_path', 'old_string', 'new_string'].map((field) => readText(input, field));
  if (path === undefined || from === undefined || to === undefined) throw malformed('The edit is not whole.');
  if (input['replace_all'] === true || from === '') return { tool: 'client.edit', input: { paths: [path], input } };
  return { tool: 'files.edit', input: { path, old_content: from, new_content: to } };
}

const patchedFile = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm;

/** A patch names its files in its own lines. */
function patchOf(patch: string, cwd: string): MappedCall {
  const paths = [...patch.matchAll(patchedFile)].map(([, file, moved]) => (file ?? moved ?? '').trim());
  if (paths.length === 0) throw malformed('The patch names no file.');
  const absolute = paths.map((path) => (path.startsWith('/') ? path : `${cwd}/${path}`));
  return { tool: 'client.edit', input: { paths: absolute, input: { patch } } };
}
