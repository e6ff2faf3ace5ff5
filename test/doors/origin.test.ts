import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientSessionOptions, IncomingHttpHeaders } from 'node:http2';
import { describe, it } from 'node:test';
import { requirement } from '../requirement.ts';
import { executeToolPath, openEchoDoors } from './echo-doors.ts';
import { askHttp, openSocket, readSocket } from './http-exchange.ts';

const paths = [executeToolPath, '/healthz', '/', '/grpc.health.v1.Health/Check'];

describe('requests that a web page could have sent', () => {
  it('are refused with 403 when Host names another machine, on every path', async (test) => {
    requirement('NFR-4');
    const { port } = await openEchoDoors(test);
    const hosts = [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1:${port + 1}`,
      'localhost.evil.example',
      '127.0.0.1.',
    ];
    for (const host of hosts) {
      for (const path of paths) {
        const answer = await askHttp(port, { path, headers: { host, 'content-type': 'application/json' }, body: '{}' });
        assert.equal(answer.status, 403, `${host} ${path}`);
        assert.equal((JSON.parse(answer.body.toString()) as { code: string }).code, 'permission_denied');
      }
    }
  });

  it('are refused with 403 when Origin is not ours, on every path', async (test) => {
    requirement('NFR-4');
    const { port } = await openEchoDoors(test);
    for (const origin of [
      'https://evil.example',
      'null',
      `http://127.0.0.1:${port + 1}`,
      `https://127.0.0.1:${port}`,
    ]) {
      for (const path of paths) {
        const headers = { origin, 'content-type': 'application/json' };
        assert.equal((await askHttp(port, { path, headers, body: '{}' })).status, 403, `${origin} ${path}`);
      }
    }
  });

  it('are refused when they carry no Host at all', async (test) => {
    const { port } = await openEchoDoors(test);
    const socket = await openSocket(port);
    const text = readSocket(socket);
    socket.write('GET /healthz HTTP/1.0\r\n\r\n');
    assert.match(await text, /^HTTP\/1\.1 403 /);
  });

  it('are refused when a header that decides something is given twice, whatever the two say', async (test) => {
    requirement('NFR-4');
    const { port, agentSocket } = await openEchoDoors(test);
    const ours = `host: 127.0.0.1:${port}`;
    const pairs = [
      ...[`${ours}\r\nHost: evil.example`, `Host: evil.example\r\n${ours}`, `${ours}\r\n${ours}`],
      `${ours}\r\nauthorization: Bearer a\r\nAuthorization: Bearer b`,
      `${ours}\r\ncontent-type: application/json\r\ncontent-type: application/proto`,
    ];
    for (const headers of pairs) {
      for (const target of [port, agentSocket]) {
        const socket = await openSocket(target);
        const text = readSocket(socket);
        socket.write(`GET /healthz HTTP/1.1\r\n${headers}\r\nconnection: close\r\n\r\n`);
        assert.match(await text, /^HTTP\/1\.1 400 .*is given twice/s, headers);
      }
    }
    // Node's types do not know the option yet, without which its client refuses to send this.
    const options = { strictSingleValueFields: false } as ClientSessionOptions;
    const session = connectHttp2(`http://127.0.0.1:${port}`, options);
    test.after(() => session.destroy());
    for (const type of ['application/grpc', 'application/json']) {
      const stream = session.request([
        ...[':method', 'POST', ':path', executeToolPath, ':authority', `localhost:${port}`, ':scheme', 'http'],
        ...['content-type', type, 'authorization', 'Bearer a', 'authorization', 'Bearer b'],
      ]);
      stream.end();
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      assert.equal(headers[':status'], 400, type);
      stream.resume();
    }
  });

  it('are refused over HTTP/2 by :authority and Origin, gRPC calls included', async (test) => {
    requirement('NFR-4');
    const { port } = await openEchoDoors(test);
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    test.after(() => session.destroy());
    const ask = (headers: Record<string, string>) =>
      new Promise<IncomingHttpHeaders>((resolve) => {
        const stream = session.request({ ':method': 'POST', ':path': executeToolPath, ...headers });
        stream.on('response', resolve);
        stream.end(Buffer.from([0, 0, 0, 0, 0]));
      });
    for (const type of ['application/grpc', 'application/proto', 'application/grpc-web']) {
      const foreign = await ask({ 'content-type': type, ':authority': 'evil.example' });
      assert.equal(foreign[':status'], 403, type);
      const page = await ask({ 'content-type': type, origin: 'https://evil.example' });
      assert.equal(page[':status'], 403, type);
      const ours = await ask({ 'content-type': type, ':authority': `localhost:${port}` });
      assert.equal(ours[':status'], type === 'application/proto' ? 400 : 200, type);
    }
  });

  it('are never told that another origin may read the answer', async (test) => {
    const { port } = await openEchoDoors(test);
    const preflight = await askHttp(port, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    assert.equal(preflight.status, 403);
    const own = await askHttp(port, { headers: { origin: `http://localhost:${port}` } });
    for (const { headers } of [preflight, own]) {
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith('access-control')),
        [],
      );
    }
  });

  it('are refused on unix sockets when they carry an Origin; any Host is fine there', async (test) => {
    const { operatorSocket, agentSocket } = await openEchoDoors(test);
    for (const target of [operatorSocket, agentSocket]) {
      const named = await askHttp(target, { method: 'GET', path: '/healthz', headers: { host: 'sallyport' } });
      assert.equal(named.status, 200);
      const page = await askHttp(target, { method: 'GET', path: '/healthz', headers: { origin: 'http://localhost' } });
      assert.equal(page.status, 403);
    }
  });
});

describe('requests to this machine by its names', () => {
  it('are served with our port and without one, in any case', async (test) => {
    const { port } = await openEchoDoors(test, undefined, { allowedHosts: ['Gate.Internal'] });
    for (const name of ['127.0.0.1', 'localhost', 'LocalHost', '[::1]', 'gate.internal']) {
      for (const host of [name, `${name}:${port}`]) {
        const answer = await askHttp(port, { method: 'GET', path: '/healthz', headers: { host } });
        assert.equal(answer.status, 200, host);
      }
    }
  });

  it('are served to pages of our own origin', async (test) => {
    const { port } = await openEchoDoors(test);
    const headers = { origin: `http://127.0.0.1:${port}` };
    assert.equal((await askHttp(port, { method: 'GET', path: '/healthz', headers })).status, 200);
  });
});
