// Where agent clients keep what decides about themselves: servers, hooks, permissions, tokens. A tool that writes there
// can take the gate out of the client; a tool that reads there finds credentials.

/** Below the person's home folder. */
const inHome = [
  // Claude Code
  '.claude',
  '.claude.json',
  '.claude.json.backup',
  // Cursor, Codex, Gemini CLI, Windsurf
  '.cursor',
  '.codex',
  '.gemini',
  '.codeium',
  // Copilot CLI, Qwen Code, Kiro, Amazon Q, Continue, Droid, Aider
  '.copilot',
  '.qwen',
  '.kiro',
  '.aws/amazonq',
  '.continue',
  '.factory',
  '.aider.conf.yml',
];

/** Below the folder for applications' settings, which each system has elsewhere. */
const inSettings = [
  'Claude',
  'zed',
  'opencode',
  'amp',
  'crush',
  'goose',
  'Code/User',
  'Code - Insiders/User',
  'VSCodium/User',
  'Cursor/User',
  'Windsurf/User',
];
const settingsFolders = ['.config', 'Library/Application Support', 'AppData/Roaming'];

const forWholeMachine = ['/etc/claude-code', '/etc/codex', '/Library/Application Support/ClaudeCode'];

/** Files that people like to keep elsewhere and link to: what they lead to is protected as well. */
const oftenLinked = [
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/hooks',
  '.cursor/mcp.json',
  '.cursor/hooks.json',
  '.codex/config.toml',
  '.codex/hooks.json',
  '.gemini/settings.json',
  '.codeium/windsurf/mcp_config.json',
  '.config/Claude/claude_desktop_config.json',
  '.config/Code/User/mcp.json',
  '.config/Code/User/settings.json',
  '.config/opencode/opencode.json',
  '.config/opencode/opencode.jsonc',
  '.config/zed/settings.json',
];

/** In any project, at any depth. */
export const projectEntries = [
  '.mcp.json',
  '.claude',
  '.cursor',
  '.codex',
  '.gemini',
  '.opencode',
  '.windsurf',
  '.vscode/mcp.json',
  '.zed/settings.json',
  'opencode.json',
  'opencode.jsonc',
  '.qwen',
  '.kiro',
  '.amazonq',
  '.continue',
  '.factory/mcp.json',
  '.factory/settings.json',
  '.amp/settings.json',
  '.roo/mcp.json',
  '.kilocode/mcp.json',
  '.junie/mcp',
  '.trae/mcp.json',
  '.crush.json',
  'crush.json',
  '.aider.conf.yml',
] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Every place outside projects, as absolute paths; `environment` may move some of them. */
export function listClientConfiguration(userHome: string, environment: Environment): readonly string[] {
  const moved = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'OPENCODE_CONFIG_DIR', 'OPENCODE_CONFIG'];
  const settings = [...settingsFolders.map((folder) => `${userHome}/${folder}`), environment['XDG_CONFIG_HOME'] ?? ''];
  return [
    ...[...inHome, ...oftenLinked].map((name) => `${userHome}/${name}`),
    ...settings.filter(Boolean).flatMap((folder) => inSettings.map((name) => `${folder}/${name}`)),
    ...moved.map((name) => environment[name] ?? '').filter(Boolean),
    ...forWholeMachine,
  ].filter((path) => path.startsWith('/'));
}
