import type { JsonObject } from '@sallyport/contract';
import { malformed, readObject, readText } from '../http/json-fields.ts';
import type { HookClient, HookEvent, HookPlace, MappedCall, UseOfTool } from './hook-event.ts';
import { checkUse, deriveUseId, inFolder, mapped, outcomeOf } from './map-use.ts';

/** Windsurf: a pre hook that ends with 2 blocks, and nothing that it writes is read as a decision. */
export const windsurf: HookClient = {
  readEvent,
  present: (decision) => (decision.kind === 'deny' ? { exitCode: 2, message: decision.reason } : { exitCode: 0 }),
};

const before = /^pre_(run_command|read_code|write_code|mcp_tool_use)$/;
const after = /^post_(run_command|read_code|write_code|mcp_tool_use)$/;

function readEvent(payload: JsonObject, place: HookPlace): HookEvent {
  const event = readText(payload, 'agent_action_name');
  const info = readObject(payload, 'tool_info');
  const [, asked] = before.exec(event) ?? [];
  if (asked !== undefined) {
    return { kind: 'before', ...readUse(payload, asked, info, place), call: mapCall(asked, info, place) };
  }
  const [, told] = after.exec(event) ?? [];
  if (told !== undefined) {
    const outcome = outcomeOf(info['mcp_result'] ?? info['output'], false);
    return { kind: 'after', ...readUse(payload, told, info, place), outcome };
  }
  if (event === 'post_cascade_response') return { kind: 'over', clientSession: readText(payload, 'trajectory_id') };
  // A later version may have more that happens: what is not known is not waved through.
  if (!/^post_|^pre_user_prompt$/.test(event)) throw malformed('This action of Windsurf is not known.');
  return { kind: 'other' };
}

function readUse(payload: JsonObject, action: string, info: JsonObject, { folder }: HookPlace): UseOfTool {
  const clientSession = readText(payload, 'trajectory_id');
  // What is told afterwards has more fields than what was asked.
  const asked = ['command_line', 'cwd', 'file_path', 'mcp_server_name', 'mcp_tool_name'].map((field) =>
    readText(info, field),
  );
  const useId = deriveUseId(clientSession, readText(payload, 'execution_id'), action, ...asked);
  return checkUse({ clientSession, useId, cwd: folder, isSharedId: true }, 'trajectory_id');
}

function mapCall(action: string, info: JsonObject, place: HookPlace): MappedCall | undefined {
  const path = readText(info, 'file_path');
  switch (action) {
    case 'run_command':
      return mapped.command(readText(info, 'command_line'), inFolder(readText(info, 'cwd'), place.folder), place);
    case 'read_code':
      return mapped.read(path);
    case 'write_code':
      return mapped.edits([path], info);
    default: {
      const server = readText(info, 'mcp_server_name');
      if (server === 'sallyport' && place.isOwnServer) return undefined;
      return mapped.other(`mcp__${server}__${readText(info, 'mcp_tool_name')}`, readObject(info, 'mcp_tool_arguments'));
    }
  }
}
