import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { termOf } from './entry-terms.ts';
import type { EntryFacts } from './entry.ts';
import { FilterError, matchesFilter, parseFilter } from './parse-filter.ts';

const nowMs = Date.UTC(2026, 2, 1, 12);
const parse = (text: string) => parseFilter(text, nowMs);

test('a filter is fields, words and times', () => {
  assert.deepEqual(
    parse('agent:Scout status:denied,error -tool:git.* path:src/ since:2h until:2026-03-01T11:30Z read*'),
    {
      terms: [termOf('agent', 'scout'), termOf('path', 'src')],
      anyOf: [[termOf('status', 'denied'), termOf('status', 'error')]],
      without: [termOf('tool', 'git.*'), termOf('kind', 'housekeeping')],
      words: ['read*'],
      sinceMs: nowMs - 7_200_000,
      untilMs: nowMs - 1_800_000,
    },
  );
  assert.deepEqual(parse('path:"a b/c" "two words"').words, ['two', 'words']);
  assert.deepEqual(parse('path:"a b/c"').terms[0], termOf('path', 'a b/c'));
});

test('housekeeping is left out unless a kind is named', () => {
  const housekeeping = [termOf('kind', 'housekeeping')];
  assert.deepEqual([parse('').terms, parse('').without], [[], housekeeping]);
  const named = parse('kind:housekeeping');
  assert.deepEqual([named.terms, named.without], [housekeeping, []]);
});

test('what is not a filter says why', () => {
  for (const text of ['colour:red', 'agent:', 'agent:,', 'since:soon', '-since:2h', '-word', '?!', 'x '.repeat(60)]) {
    assert.throws(() => parse(text), FilterError, text);
  }
});

test('any text is a filter or is refused, and never breaks the language of the index', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      try {
        for (const word of parse(text).words) assert.match(word, /^[\p{L}\p{N}\p{Co}]+\*?$/u);
      } catch (error) {
        assert.ok(error instanceof FilterError, String(error));
      }
    }),
  );
});

test('an entry matches when all of it fits', () => {
  const facts: EntryFacts = {
    ...{ kind: 'call', result: 'error', timeMs: nowMs, callId: undefined, sessionId: undefined },
    payload: { agent: 'scout', arguments: { note: 'Résumé of\nseptember' } },
  };
  assert.ok(matchesFilter(parse('agent:scout status:error,denied since:1h resume sept*'), facts));
  for (const filter of ['agent:other', '-agent:scout', 'status:ok,denied', 'until:1h', 'sept', 'resume october*'])
    assert.ok(!matchesFilter(parse(filter), facts), filter);
});
