import { isJsonObject } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { malformed, readObject, readText } from '../http/json-fields.ts';
import type { HookClient, HookEvent, HookPlace, MappedCall, UseOfTool } from './hook-event.ts';
import { checkUse, deriveUseId, firstText, inFolder, mapped, otherEvent, outcomeOf } from './map-use.ts';

/** Gemini CLI: BeforeTool and AfterTool. It gives no ids for the uses of tools. */
export const gemini: HookClient = {
  readEvent,
  present: (decision) => {
    if (decision.kind === 'none') return { exitCode: 0 };
    return { exitCode: 0, output: { decision: decision.kind, reason: decision.reason } };
  },
};

function readEvent(payload: JsonObject, place: HookPlace): HookEvent {
  switch (readText(payload, 'hook_event_name')) {
    case 'BeforeTool':
      return { kind: 'before', ...readUse(payload), call: mapCall(payload, place) };
    case 'AfterTool':
      return { kind: 'after', ...readUse(payload), outcome: readOutcome(payload) };
    case 'AfterAgent':
    case 'SessionEnd':
      return { kind: 'over', clientSession: readText(payload, 'session_id') };
    default:
      return otherEvent(payload, readText(payload, 'hook_event_name'));
  }
}

function readUse(payload: JsonObject): UseOfTool {
  const clientSession = readText(payload, 'session_id');
  const use = { clientSession, cwd: readText(payload, 'cwd'), isSharedId: true };
  const useId = deriveUseId(clientSession, readText(payload, 'tool_name'), readObject(payload, 'tool_input'));
  return checkUse({ ...use, useId }, 'session_id');
}

function readOutcome(payload: JsonObject) {
  const response = payload['tool_response'];
  return outcomeOf(response, isJsonObject(response) && response['error'] !== undefined);
}

function mapCall(payload: JsonObject, place: HookPlace): MappedCall | undefined {
  const name = readText(payload, 'tool_name');
  if (name === '') throw malformed('The hook names no tool.');
  const context = readObject(payload, 'mcp_context');
  if (readText(context, 'server_name') === 'sallyport' && place.isOwnServer) return undefined;
  const input = readObject(payload, 'tool_input');
  const cwd = readText(payload, 'cwd');
  const text = (field: string): string => readText(input, field);
  const folder = inFolder(firstText(input, 'dir_path', 'path', 'directory'), cwd);
  // A server may call its tools as it likes: what it runs is its own.
  if (Object.keys(context).length > 0) return mapped.other(name, input);
  switch (name) {
    case 'run_shell_command':
      return mapped.command(text('command'), folder, place);
    case 'read_file':
      return mapped.read(firstText(input, 'file_path', 'absolute_path', 'path'));
    case 'write_file':
      return mapped.write(text('file_path'), text('content'));
    case 'replace': {
      const isOnce = input['allow_multiple'] !== true && Number(input['expected_replacements'] ?? 1) === 1;
      return mapped.edit(text('file_path'), text('old_string'), text('new_string'), { input, isOnce });
    }
    case 'list_directory':
      return mapped.list(folder);
    case 'glob':
      return mapped.glob(text('pattern'), folder);
    case 'grep_search':
    case 'search_file_content':
      return mapped.search(folder, text('pattern'));
    default:
      return mapped.other(name, input);
  }
}
