import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressKind, isPublicAddress } from './address-kind.ts';
import type { AddressKind } from './address-kind.ts';

const examples: Readonly<Record<Exclude<AddressKind, 'public'>, readonly string[]>> = {
  loopback: ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fdff::1'],
  shared: ['100.64.0.1', '100.127.255.255'],
  'link-local': ['169.254.169.254', '169.254.0.1', 'fe80::1', 'febf::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  translated: ['::ffff:8.8.8.8', '::ffff:7f00:1', '64:ff9b::808:808', '64:ff9b:1::1', '2002:7f00:1::', '2001::1'],
  platform: ['168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'],
  reserved: ['192.0.0.1', '198.18.0.1', '240.0.0.1', '255.255.255.255', '2001:2::1', '::8.8.8.8', 'fec0::1', '5f00::1'],
};

for (const [kind, addresses] of Object.entries(examples)) {
  test(`${addresses.join(', ')}: ${kind}, not public`, () => {
    for (const address of addresses) {
      assert.equal(addressKind(address), kind, address);
      assert.equal(isPublicAddress(address), false, address);
    }
  });
}

test('addresses of the internet are public, up to the edges of the ranges that are not', () => {
  const edges = ['9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'];
  const more = ['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255', '223.255.255.255'];
  for (const address of [...edges, ...more, '8.8.8.8', '1.1.1.1', '2606:4700::1111', '2a00::1', '2001:4860::8888']) {
    assert.equal(addressKind(address), 'public', address);
  }
});

test('what the system would not write as an address is refused', () => {
  const spellings = [
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '010.0.0.1',
    '1.2.3.4 ',
    '1.2.3.4\0',
  ];
  for (const text of [...spellings, '[::1]', 'fe80::1%lo', '2606:4700::1111%eth0', '1.2.3.4:80']) {
    assert.equal(addressKind(text), undefined, text);
    assert.equal(isPublicAddress(text), false, text);
  }
});

test('no IPv6 address that stands for an IPv4 address is public, whichever that is', () => {
  const spellings = fc.constantFrom('::ffff:', '64:ff9b::', '::', '::ffff:0:', '64:ff9b:1::');
  fc.assert(
    fc.property(fc.ipV4(), spellings, (address, prefix) => assert.equal(isPublicAddress(prefix + address), false)),
  );
});
