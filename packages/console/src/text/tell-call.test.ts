import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tellCall } from './tell-call.ts';

const tell = (...call: Parameters<typeof tellCall>): string => {
  const { verb, object, detail } = tellCall(...call);
  return `${verb} ${object}${detail === '' ? '' : `, ${detail}`}`;
};

describe('a call in words', () => {
  it('has its verb, its object and how it went', () => {
    const write = { path: 'notes/a.md', content: 'hello world' };
    assert.equal(tell('files.write', write, '11 bytes written', 'ok'), 'wrote notes/a.md, 11 bytes');
    assert.equal(tell('files.write', write, '', 'waiting'), 'asks to write notes/a.md');
    assert.equal(tell('files.read', { path: 'a' }, '3439 of 3439 bytes read', 'ok'), 'read a, 3,439 bytes');
    assert.equal(tell('files.read', { path: '.env' }, 'Credentials.', 'denied'), 'may not read .env, Credentials.');
    assert.equal(
      tell('files.search', { path: '.', content: 'TODO' }, '4 matches, 0 omitted', 'ok'),
      'searched for “TODO”, 4 matches',
    );
    assert.equal(tell('git.add', { args: ['src', 'docs'] }, '', 'ok'), 'ran git add src docs');
    assert.equal(tell('shell.run', { argv: ['node', '--test'] }, '', 'error'), 'failed to run node --test');
  });

  it('says what needs no object, and what people did to the gate', () => {
    assert.equal(tellCall('policy.apply', {}, '', 'ok').verb, 'put the rule files in force');
    assert.equal(tell('secrets.set', { name: 'deploy-key' }, '', 'ok'), 'stored the secret deploy-key');
  });

  it('names the tool where nobody knows what the call was about', () => {
    assert.equal(
      tell('files.delete', undefined, 'Nobody decided.', 'denied'),
      'may not call files.delete, Nobody decided.',
    );
  });

  it('names the tool that has no verb, whatever it is called and given', () => {
    assert.equal(tell('tickets.comment', { id: 'HB-1' }, '', 'ok'), 'called tickets.comment HB-1');
    for (const args of [undefined, null, 7, 'x', [], { path: 5 }, { argv: [1] }]) {
      assert.equal(tellCall('constructor', args, '', 'ok').object, 'constructor');
    }
    assert.ok(tellCall('files.read', { path: `a\n${'b'.repeat(999)}` }, '', 'ok').object.length <= 120);
  });
});
