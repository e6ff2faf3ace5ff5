import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadRules } from '../policy/language/load-rules.ts';
import { definitionOf } from '../stages/facts.test-kit.ts';

const nowhere = '/nonexistent';
const rules = loadRules({
  folder: join(import.meta.dirname, '../../../../config/governance'),
  home: join(nowhere, 'home'),
  workspace: join(nowhere, 'workspace'),
  userHome: nowhere,
  programFolder: join(nowhere, 'program'),
  environment: {},
});

/** By the names that other systems use, which are aliases here. */
const tools = [
  definitionOf({ name: 'files.read', aliases: ['read_file'] }),
  definitionOf({ name: 'files.list', aliases: ['list_directory'] }),
  definitionOf({ name: 'code.search', aliases: ['search_code'] }),
  definitionOf({ name: 'files.write', aliases: ['write_file'] }),
  definitionOf({ name: 'http.get', aliases: ['http_get'] }),
  definitionOf({ name: 'shell.run', aliases: ['run_command'] }),
];

function toolsOf(...roles: readonly string[]): readonly (string | undefined)[] {
  const asked = { principal: 'agent', agent: 'ada', mode: 'NORMAL', resources: { paths: [] }, roles } as const;
  return tools
    .filter((tool) => rules.judge({ ...asked, tool }).rule.id !== 'outside-role')
    .map(({ aliases }) => aliases[0]);
}

test('the shipped roles: workers read, list and search, managers also write and fetch, directors use everything', () => {
  const worker = ['read_file', 'list_directory', 'search_code'];
  assert.deepEqual(toolsOf('worker'), worker);
  assert.deepEqual(toolsOf('manager'), [...worker, 'write_file', 'http_get']);
  assert.deepEqual(toolsOf('director'), [...worker, 'write_file', 'http_get', 'run_command']);
});
