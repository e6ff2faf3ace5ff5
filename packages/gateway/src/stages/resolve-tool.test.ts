import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import type { Resolved } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import type { AnyTool } from '../call/tool.ts';
import { Registry } from '../registry/registry.ts';
import { assertPassed, assertRefused, callOf, clock, operator, sessionOf, toolOf, runStage } from './facts.test-kit.ts';
import { resolveTool } from './resolve-tool.ts';

const read = toolOf({ name: 'files.read', aliases: ['read_file'] });
const create = toolOf({ name: 'sessions.create', aliases: ['let_in'], audience: 'operator' });

function resolve(tools: readonly AnyTool[], toolName: string, session: Session): Resolved | Refusal {
  const registry = new Registry();
  for (const tool of tools) registry.register(tool);
  return runStage(resolveTool(registry), { ...callOf({ toolName }), session }, clock) as Resolved | Refusal;
}

test('a tool answers to its canonical name and to its aliases', () => {
  requirement('CAT-11', 'DEF-3');
  for (const name of ['files.read', 'read_file']) {
    const { tool } = assertPassed(resolve([read, create], name, sessionOf()));
    assert.equal(tool.definition.name, 'files.read');
  }
});

test('an unknown tool is a denial that names it and what may have been meant', () => {
  requirement('DEF-5', 'PIPE-4');
  const refusal = assertRefused(resolve([read, create], 'files.raed', sessionOf()), {
    code: 'UNKNOWN_TOOL',
    rule: 'registry',
    remedy: 'Did you mean files.read?',
  });
  assert.equal(refusal.message, 'There is no tool named "files.raed".');
});

test('where nothing is near, the remedy is the list', () => {
  assertRefused(resolve([read], 'zzzzzzzzzzzz', sessionOf()), {
    code: 'UNKNOWN_TOOL',
    rule: 'registry',
    remedy: 'List the tools you may call with ListAvailableTools.',
  });
});

test('names are matched to the letter, and words of JavaScript are not names', () => {
  for (const name of ['Files.read', 'files.read ', 'constructor', '__proto__', 'toString']) {
    assert.ok('code' in resolve([read], name, sessionOf()), name);
  }
});

test('a tool for operators answers an agent exactly as if it did not exist', () => {
  for (const name of ['sessions.create', 'let_in', 'sessions.creat', 'session.create', 'files.read2']) {
    const hidden = resolve([read, create], name, sessionOf());
    const absent = resolve([read], name, sessionOf());
    assert.deepEqual(hidden, absent, name);
    assert.doesNotMatch((hidden as Refusal).remedy ?? '', /sessions|let_in/);
  }
});

test('operators find their tools, and are offered them', () => {
  assert.equal(assertPassed(resolve([read, create], 'let_in', operator)).tool, create);
  const refusal = resolve([read, create], 'sessions.creat', operator) as Refusal;
  assert.equal(refusal.remedy, 'Did you mean sessions.create?');
});

test('a name is quoted whole or not at all: half a secret in it would not be recognised', () => {
  const messageFor = (name: string): string => (resolve([read], name, sessionOf()) as Refusal).message;
  assert.equal(messageFor('x'.repeat(256)), `There is no tool named "${'x'.repeat(256)}".`);
  assert.equal(messageFor('x'.repeat(257)), 'There is no tool named "[257 characters]".');
});

test('a tool that cannot be called as it stands says why, and only to those who may know of it', () => {
  const forOperators = 'Look at it with `sallyport tool accept weather`.';
  const refusal = refuse('TOOL_NOT_ACCEPTED', 'tool-pin', 'weather is new.', { forOperators });
  const fresh = (audience: 'everyone' | 'operator') =>
    toolOf({ name: 'weather', audience }, { explainUnusable: () => refusal });
  assert.equal(resolve([fresh('everyone')], 'weather', sessionOf()), refusal);
  const hidden = resolve([fresh('operator')], 'weather', sessionOf());
  assert.equal('code' in hidden && hidden.code, 'UNKNOWN_TOOL');
  const usable = toolOf({ name: 'weather' }, { explainUnusable: () => undefined });
  assert.equal(assertPassed(resolve([usable], 'weather', sessionOf())).tool, usable);
});
