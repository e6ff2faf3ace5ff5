import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameTool } from './name-tool.ts';

test('names of servers become names of the gate, or none', () => {
  const named: readonly (readonly [string, string | undefined])[] = [
    ['create_issue', 'github.create_issue'],
    ['createIssue', 'github.create_issue'],
    ['API-post-page', 'github.api-post-page'],
    ['repo/list', 'github.repo.list'],
    ['', undefined],
    ['two words', undefined],
    ['bell\u0007', undefined],
    ['..', undefined],
    ['1st', undefined],
    ['крошка', undefined],
    ['x'.repeat(60), undefined],
  ];
  for (const [theirs, ours] of named) assert.equal(nameTool('github', theirs), ours, theirs);
});
