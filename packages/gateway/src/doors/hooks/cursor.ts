import { isJsonObject } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { malformed, readObject, readText } from '../http/json-fields.ts';
import type { HookClient, HookEvent, HookPlace, MappedCall, UseOfTool } from './hook-event.ts';
import { checkUse, deriveUseId, firstText, inFolder, mapped, otherEvent, outcomeOf } from './map-use.ts';

/** Cursor: preToolUse for its own tools, and beforeMCPExecution, which alone says what server it is, for the others. */
export const cursor: HookClient = {
  readEvent,
  present: (decision) => {
    if (decision.kind !== 'deny') return { exitCode: 0, output: { permission: 'allow' } };
    const { reason } = decision;
    return { exitCode: 0, output: { permission: 'deny', user_message: reason, agent_message: reason } };
  },
};

function readEvent(payload: JsonObject, place: HookPlace): HookEvent {
  const event = readText(payload, 'hook_event_name');
  const clientSession = readText(payload, 'conversation_id');
  switch (event) {
    case 'preToolUse':
      return { kind: 'before', ...readUse(payload, place), call: mapCall(payload, place) };
    case 'postToolUse':
    case 'postToolUseFailure':
      return { kind: 'after', ...readUse(payload, place), outcome: readOutcome(payload, event !== 'postToolUse') };
    case 'beforeMCPExecution':
      return { kind: 'before', ...readServerUse(payload, place), call: mapServerCall(payload, place) };
    case 'afterMCPExecution':
      return { kind: 'after', ...readServerUse(payload, place), outcome: outcomeOf(payload['result_json'], false) };
    case 'stop':
    case 'sessionEnd':
      return { kind: 'over', clientSession };
    default:
      return otherEvent(payload, readText(payload, 'hook_event_name'));
  }
}

function readUse(payload: JsonObject, place: HookPlace): UseOfTool {
  const use = {
    clientSession: readText(payload, 'conversation_id'),
    useId: readText(payload, 'tool_use_id'),
    cwd: folderOf(payload, place),
  };
  return checkUse(use, 'conversation_id, tool_use_id');
}

function readServerUse(payload: JsonObject, place: HookPlace): UseOfTool {
  const clientSession = readText(payload, 'conversation_id');
  const useId = deriveUseId(
    ...[clientSession, readText(payload, 'generation_id'), readText(payload, 'tool_name')],
    inputOf(payload),
  );
  return checkUse({ clientSession, useId, cwd: folderOf(payload, place), isSharedId: true }, 'conversation_id');
}

function folderOf(payload: JsonObject, { folder }: HookPlace): string {
  const roots = payload['workspace_roots'];
  const [root] = Array.isArray(roots) ? (roots as readonly unknown[]) : [];
  return readText(payload, 'cwd') || (typeof root === 'string' ? root : '') || folder;
}

function readOutcome(payload: JsonObject, isError: boolean) {
  return outcomeOf(payload['tool_output'] ?? payload['error_message'], isError);
}

/** The input of servers' tools comes as text. */
function inputOf(payload: JsonObject): JsonObject {
  const given = payload['tool_input'];
  if (typeof given !== 'string') return readObject(payload, 'tool_input');
  try {
    const parsed = JSON.parse(given) as JsonObject;
    return isJsonObject(parsed) ? parsed : { text: given };
  } catch {
    return { text: given };
  }
}

function mapServerCall(payload: JsonObject, { isOwnServer }: HookPlace): MappedCall | undefined {
  const name = readText(payload, 'tool_name');
  if (name === '') throw malformed('The hook names no tool.');
  return isOwnServer ? undefined : mapped.other(`MCP:${name}`, inputOf(payload));
}

function mapCall(payload: JsonObject, place: HookPlace): MappedCall | undefined {
  const name = readText(payload, 'tool_name');
  if (name === '') throw malformed('The hook names no tool.');
  // beforeMCPExecution, of the same file, is asked about these.
  if (name.startsWith('MCP:')) return undefined;
  const input = readObject(payload, 'tool_input');
  const path = firstText(input, 'file_path', 'path', 'target_file', 'filePath');
  const cwd = folderOf(payload, place);
  switch (name) {
    case 'Shell':
      return mapped.command(
        readText(input, 'command'),
        inFolder(firstText(input, 'working_directory', 'cwd'), cwd),
        place,
      );
    case 'Read':
      return path === '' ? mapped.other(name, input) : mapped.read(path);
    case 'Write':
    case 'StrReplace':
    case 'Edit':
    case 'Delete':
    case 'EditNotebook':
      return path === '' ? mapped.other(name, input) : mapChange(name, path, input);
    case 'Grep':
      return mapped.search(inFolder(path, cwd), readText(input, 'pattern'));
    case 'Glob':
      return mapped.glob(
        firstText(input, 'glob_pattern', 'pattern'),
        inFolder(path || firstText(input, 'target_directory'), cwd),
      );
    case 'LS':
      return mapped.list(inFolder(path || firstText(input, 'target_directory'), cwd));
    default:
      return mapped.other(name, input);
  }
}

function mapChange(name: string, path: string, input: JsonObject): MappedCall {
  const content = firstText(input, 'content', 'contents');
  const [from, to] = [readText(input, 'old_string'), readText(input, 'new_string')];
  if (name === 'Write' && content !== '') return mapped.write(path, content);
  return mapped.edit(path, from, to, { input, isOnce: input['replace_all'] !== true });
}
