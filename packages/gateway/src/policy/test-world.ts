// A made-up machine for the tests of this folder: one person, one project, tools that only have properties.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../call/fault.ts';
import type { ToolDefinition } from '../call/tool.ts';
import type { Question } from '../call/verdict.ts';
import { loadRules } from './language/load-rules.ts';
import type { LoadedRules, RulesSource } from './language/load-rules.ts';

export const world = {
  home: '/home/ada/.sallyport',
  userHome: '/home/ada',
  workspace: '/home/ada/work',
  programFolder: '/opt/sallyport',
  environment: {},
} as const;

export function fakeTool(name: string, properties: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name,
    aliases: [],
    version: '1.0.0',
    description: '',
    tags: [],
    category: 'files',
    inputSchema: {},
    outputSchema: {},
    risk: 'low',
    confirmation: 'never',
    mutates: false,
    scopes: ['paths'],
    allowedModes: ['NORMAL'],
    requiresApproval: false,
    requiresSandbox: false,
    timeoutMs: 5000,
    idempotent: true,
    audience: 'everyone',
    ...properties,
  };
}

/** The usual question: an agent in NORMAL mode reads; `path` may carry the access, as in `write /a`. */
export function ask(tool: ToolDefinition | string, paths: readonly string[], more: Partial<Question> = {}): Question {
  return {
    tool: typeof tool === 'string' ? fakeTool(tool) : tool,
    principal: 'agent',
    agent: 'coder',
    mode: 'NORMAL',
    resources: {
      paths: paths.map((path) =>
        path.startsWith('write ') ? { path: path.slice(6), access: 'write' } : { path, access: 'read' },
      ),
    },
    ...more,
  };
}

const temporaryFolders: string[] = [];
process.once('exit', () => {
  for (const folder of temporaryFolders) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder without links in its path, removed when the process ends. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-rules-')));
  temporaryFolders.push(folder);
  return folder;
}

export type RuleFiles = { readonly [Name in 'tools' | 'limits' | 'modes' | 'roles']?: string | Uint8Array };

export function writeRules(files: RuleFiles): string {
  const folder = join(makeFolder(), 'governance');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.yaml`), text);
  return folder;
}

/** Rules from the text of tools.yaml, without its head. */
export function rulesOf(rules: string, more: Partial<RulesSource> = {}): LoadedRules {
  return loadRules({ ...world, folder: writeRules({ tools: `version: 1\nrules:\n${rules}` }), ...more });
}

/** The problems of a load, each as `file:line:column  message` with the folder cut off. */
export function problemsOf(files: RuleFiles): string[] {
  const folder = writeRules(files);
  let caught: unknown;
  try {
    loadRules({ ...world, folder });
  } catch (error) {
    caught = error;
  }
  assert.ok(caught instanceof ConfigError, 'the rules should not load');
  const [head, ...lines] = caught.message.split('\n');
  assert.equal(head, `The rules in ${folder} cannot be used.`);
  return lines.map((line) => line.replace(`${folder}/`, ''));
}
