import type { JsonObject } from '@sallyport/contract';
import { malformed, readObject, readText } from '../http/json-fields.ts';
import type { HookClient, HookEvent, HookPlace, MappedCall, UseOfTool } from './hook-event.ts';
import { checkUse, firstText, inFolder, mapPatch, mapped, otherEvent, outcomeOf } from './map-use.ts';

/** opencode has plugins in place of hooks. Ours sends what they are given, and throws unless it is told to go on. */
export const opencode: HookClient = {
  readEvent,
  present: (decision) => ({
    exitCode: 0,
    output: decision.kind === 'deny' ? { decision: 'deny', reason: decision.reason } : { decision: 'allow' },
  }),
};

function readEvent(payload: JsonObject, place: HookPlace): HookEvent {
  switch (readText(payload, 'hook_event_name')) {
    case 'tool.execute.before':
      return { kind: 'before', ...readUse(payload), call: mapCall(payload, place) };
    case 'tool.execute.after':
      return { kind: 'after', ...readUse(payload), outcome: outcomeOf(payload['tool_response'], false) };
    case 'session.idle':
      return { kind: 'over', clientSession: readText(payload, 'session_id') };
    default:
      return otherEvent(payload, readText(payload, 'hook_event_name'));
  }
}

function readUse(payload: JsonObject): UseOfTool {
  const use = {
    clientSession: readText(payload, 'session_id'),
    useId: readText(payload, 'tool_use_id'),
    cwd: readText(payload, 'cwd'),
  };
  return checkUse(use, 'session_id, tool_use_id');
}

function mapCall(payload: JsonObject, place: HookPlace): MappedCall | undefined {
  const name = readText(payload, 'tool_name');
  if (name === '') throw malformed('The hook names no tool.');
  if (name.startsWith('sallyport_') && place.isOwnServer) return undefined;
  const input = readObject(payload, 'tool_input');
  const cwd = readText(payload, 'cwd');
  const text = (field: string): string => readText(input, field);
  const folder = inFolder(firstText(input, 'workdir', 'path'), cwd);
  switch (name) {
    case 'bash':
      return mapped.command(text('command'), folder, place);
    case 'read':
      return mapped.read(text('filePath'));
    case 'write':
      return mapped.write(text('filePath'), text('content'));
    case 'edit':
      return mapped.edit(text('filePath'), text('oldString'), text('newString'), {
        input,
        isOnce: input['replaceAll'] !== true,
      });
    case 'list':
      return mapped.list(folder);
    case 'glob':
      return mapped.glob(text('pattern'), folder);
    case 'grep':
      return mapped.search(folder, text('pattern'));
    case 'patch':
    case 'apply_patch':
      return mapPatch(text('patchText'), cwd);
    default:
      return mapped.other(name, input);
  }
}
