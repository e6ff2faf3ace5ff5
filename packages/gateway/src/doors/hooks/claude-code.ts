import { isJsonObject } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { malformed, readObject, readText } from '../http/json-fields.ts';
import type { HookClient, HookEvent, HookPlace, MappedCall } from './hook-event.ts';
import { checkUse, mapPatch, mapped, otherEvent, outcomeOf } from './map-use.ts';

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

function readEvent(payload: JsonObject, place: HookPlace): HookEvent {
  const event = readText(payload, 'hook_event_name');
  const clientSession = readText(payload, 'session_id');
  switch (event) {
    case 'PreToolUse':
      return { kind: 'before', ...readUse(payload), call: mapCall(payload, place) };
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return { kind: 'after', ...readUse(payload), outcome: readOutcome(payload, event === 'PostToolUseFailure') };
    case 'Stop':
    case 'SubagentStop':
    case 'SessionEnd':
      return { kind: 'over', clientSession };
    default:
      return otherEvent(payload, readText(payload, 'hook_event_name'));
  }
}

function readUse(payload: JsonObject) {
  const use = {
    clientSession: readText(payload, 'session_id'),
    useId: readText(payload, 'tool_use_id'),
    cwd: readText(payload, 'cwd'),
  };
  return checkUse(use, 'session_id, tool_use_id');
}

function readOutcome(payload: JsonObject, isError: boolean) {
  const response = payload['tool_response'];
  const failed = isJsonObject(response) && (response['is_error'] === true || response['interrupted'] === true);
  return outcomeOf(response, isError || failed);
}

/** Tools of the gate itself come through its own door, and are judged there. */
const namedOurs = /^mcp__sallyport__/;

function mapCall(payload: JsonObject, place: HookPlace): MappedCall | undefined {
  const name = readText(payload, 'tool_name');
  if (name === '') throw malformed('The hook names no tool.');
  if (namedOurs.test(name) && place.isOwnServer) return undefined;
  const input = readObject(payload, 'tool_input');
  const cwd = readText(payload, 'cwd');
  const text = (field: string): string => readText(input, field);
  switch (name) {
    case 'Bash':
      return {
        ...mapped.command(text('command'), text('workdir') || cwd, place),
        rewritten: (command) => ({ ...input, command }),
      };
    case 'Read':
    case 'NotebookRead':
      return mapped.read(text('file_path') || text('notebook_path'));
    case 'Write':
      return mapped.write(text('file_path'), text('content'));
    case 'Edit':
      return mapped.edit(text('file_path'), text('old_string'), text('new_string'), {
        input,
        isOnce: input['replace_all'] !== true,
      });
    case 'NotebookEdit':
      return mapped.edits([text('notebook_path')], input);
    case 'Glob':
      return mapped.glob(text('pattern'), text('path') || cwd);
    case 'LS':
      return mapped.list(text('path') || cwd);
    case 'Grep':
      return mapped.search(text('path') || cwd, text('pattern'), text('glob'));
    case 'apply_patch':
      return mapPatch(text('command') || text('input'), cwd);
    default:
      return mapped.other(name, input);
  }
}
