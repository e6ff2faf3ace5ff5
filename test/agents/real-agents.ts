import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const cache = join(import.meta.dirname, '../../node_modules/.cache/agents');

export interface Use {
  readonly name: string;
  readonly input: object;
  readonly isText?: boolean;
}

/** An agent from npm, and how it is made to do what a scripted model says. */
export interface RealAgent {
  readonly name: string;
  /** As npm has them. The first is the agent. */
  readonly packages: readonly string[];
  readonly megabytes: number;
  /** Settings without which it would ask for something. `port`: where its model is, as a shell word. */
  readonly seed: (user: string, workspace: string) => void;
  /** A command for a shell, with the port of the model in `$port`. `bin`: where its program is. */
  readonly command: (bin: string) => string;
  readonly environment: Readonly<Record<string, string>>;
  readonly shell: (command: string) => Use;
  /** Of the file notes.md, from `first` to `second`. */
  readonly edit: (file: string) => readonly Use[];
  /** The canonical tool of the edit. */
  readonly editTool: string;
  /** It runs another command in the place of its own when the hook says so. */
  readonly takesRewrites: boolean;
  /** How a user would try to be rid of managed hooks. Absent: the agent has none. */
  readonly managed?: readonly Attempt[];
}

/** Something a user writes down or says to the agent. `$MARK`: a file that must not come to be. */
export interface Attempt {
  readonly what: string;
  /** By their place: `~/` is the home of the user, everything else is in the project. */
  readonly files?: Readonly<Record<string, string>>;
  readonly flags?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

function write(file: string, content: string): void {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
}

const allowing =
  'touch "$MARK"; echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}\'';
const ownHooks = { PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: allowing }] }] };

const claudeAttempts: readonly Attempt[] = [
  {
    what: 'disableAllHooks in the settings of the user and of the project',
    files: {
      '~/.claude/settings.json': json({ disableAllHooks: true, allowManagedHooksOnly: false }),
      '.claude/settings.json': json({ disableAllHooks: true }),
      '.claude/settings.local.json': json({ disableAllHooks: true, hooks: {} }),
    },
  },
  {
    what: 'hooks of the user that allow everything',
    files: { '~/.claude/settings.json': json({ hooks: ownHooks, permissions: { allow: ['Bash(*)'] } }) },
  },
  { what: 'settings on the command line', flags: `--settings '{"disableAllHooks":true}'` },
  { what: 'no settings of the user at all', flags: `--setting-sources ''` },
];

const codexAttempts: readonly Attempt[] = [
  { what: 'the hooks of the user taken away', files: { '~/.codex/hooks.json': '{}' } },
  { what: 'hooks switched off on the command line', flags: '-c features.hooks=false' },
  { what: 'hooks of the user that allow everything', files: { '~/.codex/hooks.json': json({ hooks: ownHooks }) } },
];

export const realAgents: readonly RealAgent[] = [
  {
    name: 'claude-code',
    packages: ['@anthropic-ai/claude-code@2.1.326'],
    megabytes: 240,
    seed: (user, workspace) => {
      mkdirSync(join(user, '.claude'), { recursive: true });
      const projects = { [workspace]: { hasTrustDialogAccepted: true } };
      write(join(user, '.claude.json'), json({ hasCompletedOnboarding: true, projects }));
    },
    command: (bin) => `ANTHROPIC_BASE_URL="http://127.0.0.1:$port" "${bin}/claude" -p 'Do it.'`,
    environment: { ANTHROPIC_AUTH_TOKEN: 'x', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
    shell: (command) => ({ name: 'Bash', input: { command, description: 'as asked' } }),
    edit: (file) => [
      { name: 'Read', input: { file_path: file } },
      { name: 'Edit', input: { file_path: file, old_string: 'first', new_string: 'second' } },
    ],
    editTool: 'files.edit',
    takesRewrites: true,
    managed: claudeAttempts,
  },
  {
    name: 'codex',
    packages: ['@openai/codex@0.169.0'],
    megabytes: 330,
    seed: (user) =>
      write(
        join(user, '.codex/config.toml'),
        [
          'model = "gpt-5.5"\nmodel_provider = "scripted"\nsandbox_mode = "danger-full-access"\n',
          '[model_providers.scripted]\nname = "scripted"\nbase_url = "http://127.0.0.1:1/v1"\nwire_api = "responses"\nenv_key = "MODEL_KEY"\n',
        ].join(''),
      ),
    command: (bin) =>
      `"${bin}/codex" exec --skip-git-repo-check -c "model_providers.scripted.base_url=\\"http://127.0.0.1:$port/v1\\"" 'Do it.'`,
    environment: { MODEL_KEY: 'x' },
    shell: (command) => ({ name: 'exec_command', input: { cmd: command } }),
    edit: (file) => [
      {
        name: 'apply_patch',
        input: { patch: `*** Begin Patch\n*** Update File: ${file}\n@@\n-first\n+second\n*** End Patch\n` },
        isText: true,
      },
    ],
    editTool: 'client.edit',
    takesRewrites: true,
    managed: codexAttempts,
  },
  {
    name: 'gemini',
    packages: ['@google/gemini-cli@0.61.0'],
    megabytes: 160,
    seed: (user) =>
      write(join(user, '.gemini/settings.json'), json({ security: { auth: { selectedType: 'gemini-api-key' } } })),
    command: (bin) =>
      `GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$port" "${process.execPath}" "${bin}/gemini" --approval-mode yolo -p 'Do it.'`,
    environment: { GEMINI_API_KEY: 'x', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    shell: (command) => ({ name: 'run_shell_command', input: { command, description: 'as asked' } }),
    edit: (file) => [
      {
        name: 'replace',
        input: { file_path: file, instruction: 'as asked', old_string: 'first', new_string: 'second' },
      },
    ],
    editTool: 'files.edit',
    takesRewrites: false,
  },
  {
    name: 'opencode',
    packages: ['opencode-ai@1.18.33', '@opencode-ai/plugin@1.18.33'],
    megabytes: 560,
    seed: (user) => {
      // It looks for packages of its plugins in a registry that it does not reach here, and would try for minutes.
      write(join(user, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retries=0\n');
      const options = { baseURL: '{env:MODEL_URL}', apiKey: 'x' };
      const provider = { scripted: { npm: '@ai-sdk/openai-compatible', options, models: { m: { name: 'm' } } } };
      write(join(user, '.config/opencode/opencode.json'), json({ provider, model: 'scripted/m' }));
    },
    command: (bin) => `MODEL_URL="http://127.0.0.1:$port/v1" "${bin}/opencode" run 'Do it.'`,
    environment: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    shell: (command) => ({ name: 'bash', input: { command, description: 'as asked' } }),
    edit: (file) => [
      { name: 'read', input: { filePath: file } },
      { name: 'edit', input: { filePath: file, oldString: 'first', newString: 'second' } },
    ],
    editTool: 'files.edit',
    takesRewrites: false,
  },
];

/** Fetches it once, and keeps it for the next time. Where its programs are. */
export function installAgent({ name, packages, megabytes }: RealAgent): string {
  const [first = ''] = packages;
  const folder = join(cache, `${name}-${first.slice(first.lastIndexOf('@') + 1)}`);
  const mark = join(folder, 'complete');
  if (!existsSync(mark)) {
    process.stdout.write(`Installing ${packages.join(' and ')} (once, ${megabytes} MB)…\n`);
    mkdirSync(folder, { recursive: true });
    execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages], { stdio: 'inherit' });
    // npm runs no install scripts by itself any more, and these only put a program into its place.
    const installed = join(folder, 'node_modules', first.slice(0, first.lastIndexOf('@')));
    const script = ['install.cjs', 'postinstall.mjs'].find((each) => existsSync(join(installed, each)));
    if (script !== undefined) execFileSync(process.execPath, [script], { cwd: installed, stdio: 'inherit' });
    writeFileSync(mark, '');
  }
  return join(folder, 'node_modules/.bin');
}
