import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepHarmless } from './git-config-stand-in.ts';

test('of a configuration only what git must know stays', () => {
  const text = [
    '[core]',
    '\trepositoryformatversion = 1',
    '\tfilemode = true',
    '\tbare = false',
    '\tfsmonitor = /tmp/x',
    '\tsshCommand = ssh -i secret',
    '[extensions]',
    '\tobjectFormat = sha256',
    '[remote "origin"]',
    '\turl = https://person:secret@example.com/a.git',
    '\tbare = true',
    '[http "https://example.com"] extraHeader = secret',
    '\tbare = true',
  ].join('\n');
  assert.equal(
    keepHarmless(text),
    '[core] repositoryformatversion = 1\n[core] filemode = true\n[core] bare = false\n' +
      '[extensions] objectformat = sha256\n',
  );
});

test('a value that is not one of the known ones is left out', () => {
  assert.equal(keepHarmless('[core]\nbare = secret\nautocrlf = s3cret\nfilemode = tr\\\nue\n'), '');
});
