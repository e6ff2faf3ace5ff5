import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { modes } from '../../call/session.ts';
import { failureFrom } from './failure-from.ts';
import { fileTools } from './index.ts';
import { endsWith } from './test-workspace.ts';

test('the file tools have their names, aliases and risks', () => {
  requirement('CAT-1', 'CAT-11');
  const table = fileTools().map(({ definition: { name, aliases, risk, confirmation, timeoutMs, idempotent } }) => {
    return [name, aliases.join(' '), risk, confirmation, timeoutMs, idempotent];
  });
  assert.deepEqual(table, [
    ['files.read', 'read_file files.read_text', 'low', 'never', 5000, true],
    ['files.list', 'list_directory files.list_dir', 'low', 'never', 10_000, true],
    ['files.search', 'search_files', 'low', 'never', 10_000, true],
    ['files.write', 'write_file files.write_text', 'high', 'always', 10_000, false],
    ['files.edit', 'edit_file', 'high', 'always', 10_000, false],
    ['files.ensure_dir', 'ensure_dir create_directory', 'medium', 'if_destructive', 10_000, true],
    ['files.move_glob', 'move_glob move_files', 'medium', 'if_destructive', 10_000, false],
    ['files.delete', 'delete_file', 'critical', 'always', 10_000, false],
  ]);
});

test('what only reads is there in every mode, what changes something is not there in LOCKDOWN', () => {
  for (const { definition } of fileTools()) {
    const expected = definition.mutates ? modes.filter((mode) => mode !== 'LOCKDOWN') : modes;
    assert.deepEqual(definition.allowedModes, expected, definition.name);
    assert.equal(definition.mutates, !['files.read', 'files.list', 'files.search'].includes(definition.name));
  }
});

test('every schema is valid, closed, and describes each property; every default fits', () => {
  for (const { definition } of fileTools()) {
    for (const schema of [definition.inputSchema, definition.outputSchema]) {
      const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false });
      ajv.compile(schema);
      assert.equal(schema['additionalProperties'], false);
      for (const [name, property] of Object.entries(schema['properties'] as Record<string, JsonObject>)) {
        assert.match(property['description'] as string, /^[A-Z].*\.$/, `${definition.name} ${name}`);
        if ('default' in property) assert.ok(ajv.validate(property, property['default']), `${definition.name} ${name}`);
      }
    }
  }
});

test('errors of the system become codes that say what to do', () => {
  const expected: readonly (readonly [string, Parameters<typeof endsWith>[0], string | undefined])[] = [
    ['ENOENT', 'NOT_FOUND', undefined],
    ['EACCES', 'EXECUTION_ERROR', 'permission_denied'],
    ['EPERM', 'EXECUTION_ERROR', 'permission_denied'],
    ['EROFS', 'EXECUTION_ERROR', 'permission_denied'],
    ['ENOSPC', 'DISK_FULL', undefined],
    ['EDQUOT', 'DISK_FULL', undefined],
    ['EISDIR', 'NOT_A_FILE', undefined],
    ['ENOTDIR', 'NOT_A_FOLDER', undefined],
    ['ELOOP', 'UNSAFE_PATH', undefined],
    ['EMFILE', 'EXECUTION_ERROR', 'resource_exhaustion'],
  ];
  for (const [system, code, category] of expected) {
    const cause = Object.assign(new Error(`${system}: open '/proc/self/fd/9/real'`), { code: system });
    const failure = failureFrom(cause, 'a.txt') as { readonly message: string; readonly category?: string };
    endsWith(code, /^a\.txt /)(failure);
    assert.doesNotMatch(failure.message, /proc/);
    assert.equal(failure.category, category);
  }
});

test('an error that no table explains stays a fault', () => {
  for (const fault of [new TypeError('bug'), Object.assign(new Error('x'), { code: 'EBADF' }), 'text']) {
    assert.equal(failureFrom(fault, 'a.txt'), fault);
  }
  const odd = Object.assign(new Error('x'), { code: 'constructor' });
  assert.equal(failureFrom(odd, 'a.txt'), odd);
});
