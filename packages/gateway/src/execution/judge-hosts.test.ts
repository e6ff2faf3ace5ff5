import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '../call/refusal.ts';
import type { HostLeave } from '../call/tool.ts';
import type { Lease } from '../call/session.ts';
import { ask, fakeTool, rulesOf } from '../policy/test-world.ts';
import { grantedSecrets } from '../secrets/granted-secrets.ts';
import { judgeHosts } from './judge-hosts.ts';

const rules = rulesOf(`
  - id: open
    effect: allow
    tools: [http.get]
    hosts: [open.test, '127.0.0.1:8080']
    grants:
      hosts: ['127.0.0.1:8080']
      secrets: [{ name: key, hosts: [open.test], header: X-Key }, { name: env }]
  - { id: asks, effect: require_approval, tools: [http.get], hosts: [asks.test] }
  - { id: no-drafts, effect: deny, tools: [http.get], arguments: [{ pointer: /url, matches: '*/drafts/*' }] }
`);
const spent = { calls: 0, activeMs: 0, tokens: 0, costMicros: 0 };
const anyLease: Lease = { id: 'lease', tools: ['*'], grantedAtMs: 0, budget: {}, spent };

function open(named: string, { consented = false, lease = anyLease } = {}) {
  const question = {
    ...ask(fakeTool('http.get', { scopes: ['network'] }), []),
    resources: { paths: [], hosts: [named] },
  };
  const secretsFor: Parameters<typeof judgeHosts>[0]['secrets']['secretsFor'] = (grants, use) =>
    new Map(grantedSecrets(grants, use).map((name) => [name, `value of ${name}`]));
  const { judge } = judgeHosts({ rules, question, lease, consented, secrets: { secretsFor } });
  return (host: string, url = `https://${host}/`): string | HostLeave => {
    const judged = judge(host, { url });
    return isRefusal(judged) ? judged.code : judged;
  };
}

test('a host is judged by the rules, with the arguments that a call for it would have', () => {
  const judge = open('open.test:443');
  assert.equal(typeof judge('open.test:443'), 'object');
  assert.equal(judge('other.test:443'), 'NO_RULE_ALLOWS');
  assert.equal(judge('open.test:8443'), 'NO_RULE_ALLOWS');
  assert.equal(judge('open.test:443', 'https://open.test/drafts/1'), 'RULE_DENIES');
});

test('a consent is about the hosts that the call names', () => {
  assert.equal(typeof open('asks.test:443', { consented: true })('asks.test:443'), 'object');
  assert.equal(open('open.test:443', { consented: true })('asks.test:443'), 'HOST_REFUSED');
  assert.equal(open('asks.test:443')('asks.test:443'), 'HOST_REFUSED');
});

test('a lease keeps what it does not name out of reach', () => {
  const judge = open('open.test:443', { lease: { ...anyLease, hosts: ['open.test'] } });
  assert.equal(typeof judge('open.test:443'), 'object');
  assert.equal(judge('127.0.0.1:8080'), 'OUTSIDE_LEASE');
});

test('a secret is read for its own host alone, in its header', () => {
  const judge = open('open.test:443');
  assert.deepEqual((judge('open.test:443') as HostLeave).readHeaders(), { 'x-key': 'value of key' });
  const local = judge('127.0.0.1:8080') as HostLeave;
  assert.deepEqual([local.hosts, local.readHeaders()], [['127.0.0.1:8080'], {}]);
});
