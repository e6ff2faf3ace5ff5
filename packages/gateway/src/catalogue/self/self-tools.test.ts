import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redactor } from '../../redaction/redact.ts';
import { TestWorkspace } from '../files/test-workspace.ts';
import type { Check } from './check.ts';
import { selfTools } from './index.ts';

const checks: readonly Check[] = [
  { name: 'home', state: 'ok', message: '/home/ada/.sallyport, closed to other users' },
  { name: 'sandbox', state: 'fail', message: 'It said opensesame-42.', remedy: 'apt-get install bubblewrap' },
];
const settings = {
  forEveryone: () => ({ gate: { mode: 'NORMAL' } }),
  forOperators: () => ({ environment: { SALLYPORT_X: 'opensesame-42', list: ['opensesame-42'] } }),
};
const { redactText } = new Redactor(['opensesame-42']);

test('agents learn whether the gate is well; operators also what is wrong and what to do, without secrets', async () => {
  using workspace = new TestWorkspace();
  const [read, check] = selfTools({ settings, runChecks: () => checks });
  assert.ok(read && check);
  const asOperator = { redact: redactText, session: { ...workspace.session, principal: 'operator' as const } };
  assert.deepEqual(await workspace.call(check, {}, { redact: redactText }), {
    ok: false,
    checks: [
      { name: 'home', state: 'ok' },
      { name: 'sandbox', state: 'fail' },
    ],
  });
  assert.deepEqual(await workspace.call(check, {}, asOperator), {
    ok: false,
    checks: [
      { name: 'home', state: 'ok', message: '/home/ada/.sallyport, closed to other users' },
      { name: 'sandbox', state: 'fail', message: 'It said [redacted].', remedy: 'apt-get install bubblewrap' },
    ],
  });
  assert.deepEqual(await workspace.call(read, {}, { redact: redactText }), { settings: { gate: { mode: 'NORMAL' } } });
  assert.deepEqual(await workspace.call(read, {}, asOperator), {
    settings: { gate: { mode: 'NORMAL' }, environment: { SALLYPORT_X: '[redacted]', list: ['[redacted]'] } },
  });
});
