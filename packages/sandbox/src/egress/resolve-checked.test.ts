import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { HostRefused } from './host-refused.ts';
import { resolveBySystem, resolveChecked } from './resolve-checked.ts';

const target = { host: 'api.example.com', port: 443 };
const answering =
  (...addresses: string[]) =>
  () =>
    Promise.resolve(addresses);

test('public answers are returned in their order', async () => {
  const addresses = ['93.184.216.34', '2606:4700::1111'];
  assert.deepEqual(await resolveChecked(target, answering(...addresses)), addresses);
});

test('one answer that is not public refuses them all', async () => {
  for (const bad of [
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    '::ffff:93.184.216.34',
    'fe80::1%eth0',
    'x',
    '',
  ]) {
    const mixed = answering('93.184.216.34', bad);
    await assert.rejects(resolveChecked(target, mixed), HostRefused, bad);
  }
});

test('a refusal does not tell the address that the name leads to', async () => {
  const refused = resolveChecked(target, answering('10.11.12.13'));
  await assert.rejects(refused, (error: HostRefused) => {
    assert.match(error.message, /private/);
    assert.match(error.remedy ?? '', /hosts: \[/);
    return !`${error.message}${error.remedy}`.includes('10.11.12.13');
  });
});

test('no answer is an error, not a refusal', async () => {
  await assert.rejects(resolveChecked(target, answering()), /no address/);
});

test('an address that the rule names is not resolved', async () => {
  const never = (): never => assert.fail('resolved');
  assert.deepEqual(await resolveChecked({ ...target, addresses: ['10.0.0.5'] }, never), ['10.0.0.5']);
});

test('no address of this machine is connected to by a name, public or not', async () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  assert.ok(own.length > 0);
  for (const { address } of own) await assert.rejects(resolveChecked(target, answering(address)), HostRefused, address);
  const ofAServer = resolveChecked(target, answering('93.184.216.34'), () => ['127.0.0.1', '93.184.216.34']);
  await assert.rejects(ofAServer, { name: 'HostRefused', message: /this machine itself/ });
});

test('localhost, resolved by the system, is refused', async () => {
  await assert.rejects(resolveChecked({ host: 'localhost', port: 80 }, resolveBySystem), HostRefused);
});
