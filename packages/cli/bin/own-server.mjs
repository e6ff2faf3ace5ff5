// Whether the MCP server that a client calls `sallyport` is the one that `sallyport init` wrote down. Its calls pass the
// gate at its own door, so the hook need not ask about them. Whatever cannot be known for certain is "no", and is judged
// like the tools of any other server.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

/** By the client: where else than in the file of the user it finds servers, from the folder it works in upwards. */
const projectFiles = {
  'claude-code': ['.mcp.json'],
  codex: ['.codex/config.toml'],
  opencode: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
  windsurf: [],
};
/** Variables that lead a client to other settings than those that were looked at. */
const otherSettings = ['OPENCODE_CONFIG', 'OPENCODE_CONFIG_CONTENT', 'OPENCODE_CONFIG_DIR'];

/** `written`: what init put into the settings of the client: { file, entry } or, in TOML, { file, text }. */
export function isOwnServer(client, payload, written) {
  if (written === undefined || !isNamedOurs(client, payload)) return false;
  const { entry = {} } = written;
  if (client === 'gemini') {
    const { command, args } = payload.mcp_context;
    return entry.command === command && isDeepStrictEqual(entry.args, args);
  }
  if (client === 'cursor')
    return payload.url === undefined && payload.command === [entry.command, ...entry.args].join(' ');
  return isConfiguredOnce(client, payload.cwd ?? process.cwd(), written);
}

function isNamedOurs(client, payload) {
  const { tool_name: tool = '' } = payload;
  if (client === 'gemini') return payload.mcp_context?.server_name === 'sallyport';
  if (client === 'cursor') return payload.hook_event_name === 'beforeMCPExecution';
  if (client === 'windsurf') return payload.tool_info?.mcp_server_name === 'sallyport';
  return tool.startsWith(client === 'opencode' ? 'sallyport_' : 'mcp__sallyport__');
}

function isConfiguredOnce(client, cwd, { file, entry, text }) {
  if (client === 'opencode' && otherSettings.some((name) => process.env[name])) return false;
  const files = foldersAbove(cwd).flatMap((folder) => projectFiles[client].map((name) => join(folder, name)));
  if (client === 'codex') {
    const present = readText(file);
    // A name can be spelled with escapes: a file with any of them is not looked into further.
    return (
      present?.split(text).length === 2 &&
      files.every((each) => each === file || !/mcp_servers|\\/.test(readText(each) ?? ''))
    );
  }
  const isPlain = ([name, value], isUsers) =>
    !name.startsWith('sallyport') || (isUsers && name === 'sallyport' && isDeepStrictEqual(value, entry));
  return [file, ...files].every((each) => {
    const found = readServers(each);
    return (
      found !== undefined && found.every((server) => isPlain(server, each === file)) && (each !== file || has(found))
    );
  });
}

const has = (servers) => servers.some(([name]) => name === 'sallyport');

/** Every server that the file names, for whatever project. Empty: there is no file. Undefined: it cannot be read. */
function readServers(file) {
  const text = readText(file);
  if (text === undefined) return [];
  try {
    const settings = JSON.parse(text);
    const maps = [
      settings.mcpServers,
      settings.mcp,
      ...Object.values(settings.projects ?? {}).map((each) => each.mcpServers),
    ];
    return maps.flatMap((map) => Object.entries(map ?? {}));
  } catch {
    return undefined;
  }
}

function foldersAbove(folder) {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}

/** Undefined: there is none. */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
