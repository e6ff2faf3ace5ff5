import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { ProgramNotStarted } from '../../packages/sandbox/src/program.ts';
import type { EgressProxy } from '../../packages/sandbox/src/egress/egress-proxy.ts';
import { NamespaceDoor } from '../../packages/sandbox/src/egress/namespace-door.ts';
import { egressEnvironment, egressPort, openEgress } from '../../packages/sandbox/src/egress/open-egress.ts';
import { BlockedSandbox, isRoot, ordinaryUser, skip } from './blocked-sandbox.ts';
import type { User } from './blocked-sandbox.ts';

/** Who starts the sandbox, and who opens its network. */
const casts: readonly { readonly name: string; readonly sandbox?: User; readonly helper?: User }[] = isRoot
  ? [
      { name: 'root for both' },
      { name: 'root for a sandbox of an ordinary user', sandbox: ordinaryUser },
      { name: 'an ordinary user for both', sandbox: ordinaryUser, helper: ordinaryUser },
    ]
  : [{ name: 'an ordinary user' }];

function openDoor(
  t: TestContext,
  options: { readonly user?: User | undefined; readonly port?: number } = {},
): NamespaceDoor {
  const { user, port = egressPort } = options;
  const door = new NamespaceDoor(user === undefined ? { port } : { port, user });
  t.after(() => door.close());
  return door;
}

/** The internet: every name leads to a public address, and every address to this server. */
async function openInternet(t: TestContext): Promise<{ readonly port: number; readonly open: OpenEgress }> {
  const server = createServer((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { Location: 'http://elsewhere.org/' });
    response.end(`${request.headers.host} ${request.url}\n`);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const open: OpenEgress = async (sandbox, door, hosts) => {
    const resolve = () => Promise.resolve(['93.184.216.34']);
    const dial = () => connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const egress = await openEgress({ door, hosts, ...sandbox.inside, resolve, dial });
    t.after(() => egress.close());
    return egress;
  };
  return { port, open };
}

type OpenEgress = (sandbox: BlockedSandbox, door: NamespaceDoor, hosts: readonly string[]) => Promise<EgressProxy>;

const shell = (script: string): string[] => ['/bin/sh', '-c', `exec 2>&1; ${script}`];

for (const { name, sandbox: user, helper } of casts) {
  test(`curl in a sandbox reaches the granted hosts through the gate, and no others: ${name}`, { skip }, async (t) => {
    const internet = await openInternet(t);
    const script = [
      'curl -sS http://api.example.com/plain',
      'curl -sS -p http://api.example.com/tunnel',
      'curl -sS http://other.org/',
      'curl -sS https://other.org/',
      'curl -sSL -o /dev/null -w "%{http_code}\\n" http://api.example.com/redirect',
    ].join('; ');
    const sandbox = await BlockedSandbox.start(shell(script), { user, environment: egressEnvironment });
    const egress = await internet.open(sandbox, openDoor(t, { user: helper }), ['api.example.com']);
    const lines = (await sandbox.release()).trim().split('\n');
    assert.deepEqual(lines, [
      'api.example.com /plain',
      'api.example.com /tunnel',
      'Sallyport does not connect to other.org:80: no rule grants it to this call.',
      'curl: (56) CONNECT tunnel failed, response 403',
      '403',
    ]);
    assert.equal(egress.connections, 3);
    assert.deepEqual(egress.log.targetsOf('refused'), ['other.org:80', 'other.org:443', 'elsewhere.org:80']);
  });
}

test('Node in a sandbox fetches through the gate by the environment alone', { skip }, async (t) => {
  const internet = await openInternet(t);
  const script = `
    const one = async (url) => { const answer = await fetch(url); return answer.status + ' ' + await answer.text(); };
    for (const url of ['http://api.example.com/a', 'http://other.org/']) {
      process.stdout.write(await one(url).catch((error) => error.cause.message + '\\n'));
    }`;
  const argv = ['/node', '--input-type=module', '-e', script];
  const sandbox = await BlockedSandbox.start(argv, { environment: egressEnvironment });
  const egress = await internet.open(sandbox, openDoor(t), ['*.example.com']);
  const output = await sandbox.release();
  assert.match(output, /^200 api\.example\.com \/a\n/);
  assert.equal(egress.connections, 1);
  assert.deepEqual(egress.log.targetsOf('refused'), ['other.org:80']);
});

test(
  'nothing but the gate can be reached: neither the loopback of the host nor another network',
  { skip },
  async (t) => {
    const internet = await openInternet(t);
    const targets = [`127.0.0.1:${internet.port}`, '169.254.169.254:80', '93.184.216.34:80', '[::1]:80', '10.0.0.1:80'];
    const script = targets
      .map((to) => `curl -s -m 5 --noproxy '*' -o /dev/null -w "%{http_code} " http://${to}/`)
      .join('; ');
    const sandbox = await BlockedSandbox.start(shell(`${script}; cat /proc/net/dev /proc/net/route`));
    const egress = await internet.open(sandbox, openDoor(t), ['*.example.com', 'localhost:1']);
    const output = await sandbox.release();
    assert.equal(output.match(/000 /g)?.length, targets.length, output);
    assert.deepEqual(
      [...output.matchAll(/^ *(\w+):/gm)].map(([, device]) => device),
      ['lo'],
    );
    assert.equal(egress.connections, 0);
  },
);

test('each of many sandboxes at once reaches its own gate only', { skip }, async (t) => {
  const internet = await openInternet(t);
  const door = openDoor(t);
  const names = Array.from({ length: 8 }, (_, at) => `host${at}.example.com`);
  const script = names.map((name) => `curl -sS -o /dev/null -w "%{http_code} " http://${name}/`).join('; ');
  const outputs = await Promise.all(
    names.map(async (name) => {
      const sandbox = await BlockedSandbox.start(shell(script), { environment: egressEnvironment });
      const egress = await internet.open(sandbox, door, [name]);
      const output = await sandbox.release();
      assert.equal(egress.connections, 1);
      return output;
    }),
  );
  for (const [at, output] of outputs.entries()) {
    assert.equal(output, names.map((_, other) => (other === at ? '200 ' : '403 ')).join(''));
  }
});

test(
  'the gate of a sandbox stands in its network and not in that of the host, even at the same port',
  { skip },
  async (t) => {
    const neighbour = createTcpServer((socket) => socket.end('neighbour'));
    await new Promise<void>((resolve) => void neighbour.listen(0, '127.0.0.1', resolve));
    t.after(() => neighbour.close());
    const { port } = neighbour.address() as AddressInfo;
    const internet = await openInternet(t);
    const sandbox = await BlockedSandbox.start(shell(`curl -sS -x http://127.0.0.1:${port} http://api.example.com/`));
    await internet.open(sandbox, openDoor(t, { port }), ['api.example.com']);
    const asked = connect({ host: '127.0.0.1', port });
    const answers: string[] = [];
    for await (const chunk of asked) answers.push(String(chunk));
    assert.deepEqual(answers, ['neighbour']);
    assert.equal(await sandbox.release(), 'api.example.com /\n');
  },
);

test('a closed gate leaves the program without network', { skip }, async (t) => {
  const internet = await openInternet(t);
  const sandbox = await BlockedSandbox.start(shell('curl -sS http://api.example.com/'), {
    environment: egressEnvironment,
  });
  const egress = await internet.open(sandbox, openDoor(t), ['api.example.com']);
  await egress.close();
  assert.match(await sandbox.release(), /Failed to connect|Couldn't connect/);
});

test('a line that is no host refuses the call before anything is opened', { skip }, async (t) => {
  const sandbox = await BlockedSandbox.start(['/bin/true']);
  t.after(() => sandbox.kill());
  const opening = openEgress({ door: openDoor(t), hosts: ['*'], ...sandbox.inside });
  await assert.rejects(opening, (error: unknown) => error instanceof ProgramNotStarted && /"\*"/.test(error.message));
});
