import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { ToolRefused } from '../../call/tool.ts';
import { fillTemplate, parseTemplateWord } from './command-template.ts';

function fill(words: readonly string[], args: JsonObject): readonly string[] {
  return fillTemplate(words.map(parseTemplateWord), args);
}

test('each word becomes one argument, whatever is put into it', () => {
  requirement('DEF-8');
  const hostile = `'; rm -rf / #"$(id)" \`id\` \n*`;
  assert.deepEqual(
    fill(['log', '-n', '{{count}}', '--author={{who}}', '{{ text }}'], { count: 5, who: hostile, text: hostile }),
    ['log', '-n', '5', `--author=${hostile}`, hostile],
  );
  assert.deepEqual(
    fill(['{{a}}{{b}}'], { a: '{{b}}', b: 'x' }),
    ['{{b}}x'],
    'what was filled in is not looked at again',
  );
  assert.deepEqual(fill(['{{list}}', '{{flag}}'], { list: ['a b', 1], flag: true }), ['["a b",1]', 'true']);
  assert.deepEqual(fill(['{single}', '{{'], {}), ['{single}', '{{']);
});

test('a word whose argument is absent is left out', () => {
  assert.deepEqual(fill(['a', '--x={{x}}', '{{y}}', 'b'], {}), ['a', 'b']);
});

test('a text of the caller cannot become an option', () => {
  for (const text of ['-rf', '--output=/etc/passwd', '-']) {
    assert.throws(() => fill(['{{text}}'], { text }), ToolRefused);
    assert.deepEqual(fill(['--', '{{text}}'], { text }), ['--', text]);
    assert.deepEqual(fill(['--name={{text}}'], { text }), [`--name=${text}`]);
  }
  assert.deepEqual(fill(['{{count}}'], { count: -5 }), ['-5'], 'a number is a number');
  assert.throws(() => fill(['{{text}}'], { text: 'a\0b' }), ToolRefused);
});
