import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describeAttempts } from '../gate.ts';
import { assertAllFail, tryCalls } from '../try-calls.ts';
import { requirement } from '../../requirement.ts';

const [stream, datagram, raw, sequence] = [1, 2, 3, 5];

/** A server of the machine that must never hear anything. */
async function listen(address: { readonly host: string } | { readonly path: string }) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen({ ...address, ...('host' in address ? { port: 0 } : {}) });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    readConnections: () => connections,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

describeAttempts((attempt) => {
  attempt('29: no address of the machine or of the network answers', async (gate) => {
    requirement('EXEC-1');
    await using local = await listen({ host: '127.0.0.1' });
    await using everywhere = await listen({ host: '0.0.0.0' });
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal)
      .map(({ address }) => [address, everywhere.port] as const);
    const addresses = [
      ['127.0.0.1', local.port] as const,
      ['127.0.0.1', everywhere.port] as const,
      ['169.254.169.254', 80] as const,
      ['192.0.2.1', 443] as const,
      ['10.0.0.1', 443] as const,
      ...own,
    ];
    const script = addresses
      .map(
        ([address, port]) =>
          `socket(S, AF_INET, SOCK_STREAM, 0) or die; print connect(S, sockaddr_in(${port}, inet_aton("${address}"))) ? "connected" : $!+0, "\\n";
          socket(U, AF_INET, SOCK_DGRAM, 0) or die; print send(U, "x", 0, sockaddr_in(${port}, inet_aton("${address}"))) ? "sent" : $!+0, "\\n";`,
      )
      .join('\n');
    const { stdout, stderr } = await gate.perl(`use Socket; ${script}`);
    const lines = stdout.trim().split('\n');
    assert.equal(lines.length, addresses.length * 2, stderr);
    // To its own loopback interface a program may send, and nobody hears it.
    assert.ok(!lines.includes('connected') && lines.filter((line) => line === 'sent').length === 2, stdout);
    assert.equal(local.readConnections() + everywhere.readConnections(), 0);
  });

  attempt('29: IPv6 leads nowhere either, and names are not resolved', async (gate) => {
    const { stdout } = await gate.perl(`use Socket qw(:DEFAULT inet_pton);
      for ("2001:db8::1", "fe80::1", "::ffff:169.254.169.254") {
        socket(S, AF_INET6, SOCK_STREAM, 0) or die;
        print connect(S, Socket::pack_sockaddr_in6(443, inet_pton(AF_INET6, $_))) ? "connected" : "failed", "\\n";
      }
      print defined(gethostbyname("example.com")) ? "resolved" : "failed", "\\n";`);
    assert.equal(stdout, 'failed\n'.repeat(4));
  });

  attempt('29: only the loopback interface is there, and no other can be made', async (gate) => {
    const { stdout } = await gate.shell('tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/route');
    assert.deepEqual(stdout.trim().split(/\s+/), ['lo']);
    const setFlags = 0x8914;
    const [result] = await tryCalls(gate, [['ioctl', 'fileno(S)', setFlags, `pack('a16 s x22', 'lo', 0)`]], {
      prepare: 'use Socket; socket(S, AF_INET, SOCK_DGRAM, 0) or die;',
    });
    assert.equal(result, 'EPERM');
  });

  attempt('30: families of sockets that reach past the network do not exist', async (gate) => {
    const families = {
      vsock: 40,
      alg: 38,
      netlink: 16,
      packet: 17,
      bluetooth: 31,
      xdp: 44,
      can: 29,
      tipc: 30,
      rds: 21,
    };
    await assertAllFail(
      gate,
      'EAFNOSUPPORT',
      Object.values(families).flatMap((family) =>
        [stream, datagram, raw, sequence].map((type) => ['socket', family, type, 0] as const),
      ),
    );
    const [inet, inet6, icmp, sctp, dccp, mptcp, udpLite, nonBlocking] = [2, 10, 1, 132, 33, 262, 136, 0o4000];
    await assertAllFail(gate, 'EPERM', [
      ['socket', inet, raw, icmp],
      ['socket', inet, datagram, icmp],
      ['socket', inet6, raw | nonBlocking, 58],
      ['socket', inet, stream, sctp],
      ['socket', inet, stream, mptcp],
      ['socket', inet, 6, dccp],
      ['socket', inet, datagram, udpLite],
      ['socket', inet, 10, 0x300],
    ]);
  });

  attempt('31: abstract sockets of the machine are out of reach', async (gate) => {
    const name = `sallyport-attempt-${process.pid}`;
    await using server = await listen({ path: `\0${name}` });
    const { stdout } = await gate.perl(
      `use Socket; print socket(S, AF_UNIX, SOCK_STREAM, 0) ? "socket" : "none";
      print connect(S, sockaddr_un("\\0${name}")) ? "connected" : "none"; open(F, "<", "/proc/net/unix"); print grep { /sallyport/ } <F>`,
    );
    assert.equal(stdout, 'nonenone');
    assert.equal(server.readConnections(), 0);
  });

  attempt('39: a socket of the machine in a folder that the program sees cannot be connected to', async (gate) => {
    const path = join(gate.workspace, 'host.sock');
    await using server = await listen({ path });
    chmodSync(path, 0o777);
    await assertAllFail(gate, 'EAFNOSUPPORT', [
      ['socket', 1, stream, 0],
      ['socket', 1, datagram, 0],
      ['socket', 1, sequence, 0],
      ['socket', '1 | (1 << 32)', stream, 0],
    ]);
    await assertAllFail(gate, 'EPERM', [
      ['socketpair', 1, datagram, 0, '"\\0" x 8'],
      ['socketpair', 1, sequence, 0, '"\\0" x 8'],
    ]);
    assert.deepEqual(await tryCalls(gate, [['socketpair', 1, stream, 0, '"\\0" x 8']]), ['OK']);
    // One of a pair is connected for good.
    const { stdout } = await gate.perl(
      `use Socket; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die; close B;
      print connect(A, sockaddr_un("host.sock")) ? "connected" : "failed"; print send(A, "x", 0, sockaddr_un("host.sock")) ? "sent" : "failed"`,
    );
    assert.doesNotMatch(stdout, /connected|sent/);
    assert.equal(server.readConnections(), 0);
  });

  attempt('a program can talk to itself over its own loopback interface', async (gate) => {
    const script = `require('node:http').createServer((q, s) => s.end('hello')).listen(8080, '127.0.0.1', async () => {
      console.log(await (await fetch('http://localhost:8080')).text()); process.exit(); })`;
    const { stdout, stderr } = await gate.run({ program: { argv: ['/opt/sallyport/bin/node', '-e', script] } });
    assert.equal(stdout, 'hello\n', stderr);
  });
});
