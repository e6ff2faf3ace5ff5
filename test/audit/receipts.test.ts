import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isSignedBy, verifyReceipt } from '../../packages/log/src/index.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { GoJudge } from '../harness/judge-with-go.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

let daemon: TestDaemon;
let go: GoJudge;
let key: string;
let allowed: string;
let denied: string;

before(async () => {
  go = new GoJudge();
  daemon = await TestDaemon.start();
  writeFileSync(join(daemon.place.workspace, 'a.txt'), 'hello');
  allowed = (await daemon.call('files.read', { path: 'a.txt' })).callId;
  denied = (await daemon.call('files.read', { path: '.env' })).callId;
  key = readFileSync(join(daemon.place.home, 'keys', 'audit.pub'), 'utf8').trim();
});
after(async () => {
  go.close();
  await daemon.remove();
});

function receipt(which: string): string {
  const file = join(daemon.place.folder, 'receipt.json');
  const made = runSallyport(daemon.place, ['audit', 'receipt', which, file, '--json']);
  assert.equal(made.status, 0, made.stderr);
  return readFileSync(file, 'utf8');
}

const verify = (text: string, verifier = key) => verifyReceipt(text, { verifier, checkSignature: isSignedBy });

test('a receipt shows the decision and both records of a call, and others verify it too', async () => {
  const text = receipt(allowed);
  const { intact, problems, decision, records, call } = await verify(text);
  assert.deepEqual([intact, problems, call], [true, [], allowed]);
  assert.deepEqual(
    records.map(({ kind, result }) => [kind, result]),
    [
      ['intent', 'none'],
      ['outcome', 'ok'],
    ],
  );
  assert.equal(decision?.result, 'ok');
  assert.equal((decision.decision as { effect: string }).effect, 'allow');
  assert.equal((JSON.parse(text) as { approver_signature: unknown }).approver_signature, null);
  assert.equal(go.judge(text), undefined);
  const changed = text.replace('a.txt', 'b.txt');
  assert.match(go.judge(changed) ?? '', /content and leaf differ/, 'the judge can say no');
});

test('a refusal has a receipt as well, with the rule that refused', async () => {
  const text = receipt(denied.slice(0, 20));
  const { intact, decision } = await verify(text);
  assert.deepEqual([intact, decision?.result], [true, 'denied']);
  assert.match(JSON.stringify(decision?.refusal), /"rule_id":"[^"]+"/);
  assert.equal(go.judge(text), undefined);
});

test('one record has a receipt by its index, also one that belongs to no call', async () => {
  const text = receipt('0');
  const { intact, call, decision, records } = await verify(text);
  assert.deepEqual([intact, call, decision, records.length], [true, undefined, null, 1]);
  assert.equal(go.judge(text), undefined);
});

test('a call that nobody made has no receipt', () => {
  const made = runSallyport(daemon.place, ['audit', 'receipt', '01942a5b-db1b-7a7e-86cb-5c5c64abac08', 'x.json']);
  assert.notEqual(made.status, 0);
  assert.match(made.stderr, /no record of it/);
});

test('the content of a record that holds a secret known by now is kept back, and the rest is proved', async () => {
  const secret = `later-${createHash('sha256').update('later').digest('hex').slice(0, 24)}`;
  const { callId } = await daemon.call('files.list', { path: secret });
  assert.ok(receipt(callId).includes(secret), 'nobody knew it then');
  await daemon.call('secrets.set', { name: 'later', value: secret });
  const text = receipt(callId);
  assert.ok(!text.includes(secret));
  const { intact, records } = await verify(text);
  assert.equal(intact, true);
  assert.ok(records.some(({ payload }) => payload === undefined));
  assert.equal(go.judge(text), undefined);
  runSallyport(daemon.place, ['stop']);
  assert.ok(!receipt(callId).includes(secret), 'nor without the daemon');
  assert.equal((await verify(receipt(allowed))).intact, true);
  daemon = await TestDaemon.start(daemon.place);
});
