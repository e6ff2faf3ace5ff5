import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkListener, findListeners } from './check-listener.ts';

const own = process.getuid?.() ?? 0;
const heading = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const row = (uid: number, { state = '0A', address = '0100007F:12AC' } = {}): string =>
  `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000 ${uid}        0 12345 1 0 100 0 0 10 0`;
const target = { host: '127.0.0.1', port: 0x12ac };
const check = (...rows: readonly string[]) => checkListener(target, '/', [[heading, ...rows].join('\n')]);

test('a credential goes to this user, to root and to the user of the gate', () => {
  for (const uid of [own, 0]) check(row(uid));
  check();
  check(row(54_321, { address: '0100007F:12AD' }), row(54_321, { state: '01' }));
  checkListener({ path: '/run/x.sock' }, '/', [row(54_321)]);
});

test('nobody else at the port is sent a credential, at whatever address they listen', () => {
  const addresses = ['0100007F:12AC', '00000000:12AC', '00000000000000000000000001000000:12AC'];
  for (const address of addresses) {
    assert.throws(() => check(row(0, { address: '0100007F:0016' }), row(54_321, { address })), {
      code: 'FOREIGN_LISTENER',
      message: /user 54321.*not sent/,
    });
  }
});

test('the tables of this machine name the user of a real listener', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  if (process.platform !== 'linux') return;
  assert.deepEqual(findListeners(port, [readFileSync('/proc/net/tcp', 'utf8')]), [own]);
});
