import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { requirement } from '../requirement.ts';

const secret = 'k3y-0f-the-t3st-service-8841';
let server: Server;
let port: number;
let daemon: TestDaemon;
let agent: string;

before(async () => {
  server = createServer((request, response) => {
    if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end();
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(`key ${String(request.headers['x-key'])}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  const place = ownRules(newPlace(), {
    'tools.yaml': `version: 1
rules:
  - id: own-server
    effect: allow
    tools: ['web.*', 'http.*']
    hosts: ['*', '127.0.0.1:${port}']
    approval: waived
    grants: { hosts: ['127.0.0.1:${port}'], secrets: [{ name: service-key, hosts: [127.0.0.1], header: X-Key }] }
  - id: no-sending-after-reading
    effect: deny
    tools: [http.post, http.put, http.delete]
    after: [web.fetch]
`,
  });
  daemon = await TestDaemon.start(place);
  await daemon.call('secrets.set', { name: 'service-key', value: secret });
  agent = await daemon.newAgent('reader');
});
after(async () => {
  await daemon.remove();
  server.close();
});

const call = (tool: string, url: string): Promise<Answer> => daemon.call(tool, { url }, { token: agent });

interface Kept {
  readonly kind: string;
  readonly result: string;
  readonly payload: Record<string, unknown>;
}

async function recordsOf({ callId }: Answer): Promise<Kept[]> {
  const found: Kept[] = [];
  for (let from = 0; ;) {
    const records = await daemon.records(from);
    if (records.length === 0) return found;
    from += records.length;
    found.push(...records.filter((record) => record.callId === callId));
  }
}

test('a request and its destination are on record, and the secret that went along is in no record, result or log', async () => {
  const answer = await call('http.get', `http://127.0.0.1:${port}/`);
  const output = JSON.parse(answer.success?.outputJson ?? '{}') as Record<string, unknown>;
  assert.deepEqual([output['status'], output['untrusted']], [200, true], JSON.stringify(answer));
  assert.match(String(output['body']), /^key \[redacted/);
  const outcome = (await recordsOf(answer)).find(({ kind }) => kind === 'outcome');
  assert.deepEqual(outcome?.payload['network'], [{ outcome: 'connected', target: `127.0.0.1:${port}`, times: 1 }]);
  const all =
    JSON.stringify([answer, await daemon.records()]) +
    readFileSync(join(daemon.place.home, 'log', 'daemon.log'), 'utf8');
  assert.doesNotMatch(all, /k3y-0f/);
});

test('each refusal names its destination in the record: by the form of the address, by the gate, by the rules', async () => {
  for (const [url, code, destination] of [
    ['http://user@127.0.0.1/', 'HOST_REFUSED', /127\.0\.0\.1/],
    ['file:///etc/passwd', 'HOST_REFUSED', /file:\/\/\/etc\/passwd/],
    ['http://2130706433/', 'HOST_REFUSED', /2130706433/],
    ['http://0x7f000001/', 'HOST_REFUSED', /0x7f000001/],
    ['http://0177.0.0.1/', 'HOST_REFUSED', /0177\.0\.0\.1/],
    ['http://127.1/', 'HOST_REFUSED', /127\.1/],
    ['http://[::ffff:127.0.0.1]/', 'HOST_REFUSED', /::ffff:/],
    ['http://127.0.0.1:22/', 'NO_RULE_ALLOWS', /127\.0\.0\.1:22/],
    ['http://169.254.169.254/latest/meta-data', 'HOST_REFUSED', /169\.254\.169\.254:80/],
    ['http://localhost/', 'HOST_REFUSED', /localhost:80/],
    [`http://127.0.0.1:${port}/away`, 'HOST_REFUSED', /169\.254\.169\.254:80/],
    ['http://example.com:22/', 'NO_RULE_ALLOWS', /example\.com:22/],
  ] as const) {
    const answer = await call('web.fetch', url);
    assert.equal(answer.denied?.rationaleCode, code, `${url} ${JSON.stringify(answer)}`);
    const records = await recordsOf(answer);
    assert.ok(
      records.some(({ result, payload }) => result === 'denied' && destination.test(JSON.stringify(payload))),
      `${url} ${JSON.stringify(records)}`,
    );
  }
});

test('a session that has read from the web no longer sends, where a rule says so; another session does', async () => {
  requirement('ANOM-3');
  const url = `http://127.0.0.1:${port}/`;
  const [reader, other] = [await daemon.newAgent('reader-2'), await daemon.newAgent('sender')];
  const send = (token: string) => daemon.call('http.post', { url, body: 'data' }, { token });
  assert.ok((await send(reader)).success);
  assert.ok((await daemon.call('fetch_url', { url }, { token: reader })).success);
  assert.equal((await send(reader)).denied?.ruleId, 'no-sending-after-reading');
  assert.ok((await send(other)).success);
});
