import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { describe, it } from 'node:test';
import { Http2Reply } from './reply.ts';
import { openClient, openServer } from './session.test-kit.ts';

async function read(
  asked: ClientHttp2Stream,
): Promise<{ readonly headers: IncomingHttpHeaders; readonly body: string }> {
  let headers: IncomingHttpHeaders = {};
  let body = '';
  asked.on('response', (given) => (headers = given));
  asked.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
  asked.end();
  await once(asked, 'end');
  return { headers, body };
}

describe('Http2Reply', () => {
  it('sends head, date and body, and lists as lines of their own', async (test) => {
    const { path } = await openServer(test, (stream) => {
      const reply = new Http2Reply(stream);
      reply.writeHead(201, { 'Content-Type': 'text/plain', 'set-cookie': ['a=1', 'b=2'], 'x-none': undefined });
      assert.ok(reply.headersSent);
      reply.write('one ');
      reply.end('two');
      assert.ok(reply.writableEnded);
    });
    const { headers, body } = await read(openClient(test, path).request({ ':path': '/' }));
    assert.equal(headers[':status'], 201);
    assert.equal(headers['content-type'], 'text/plain');
    assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
    assert.ok(Date.parse(headers.date ?? '') > 0);
    assert.equal(body, 'one two');
  });

  it('sends no body to who asks for the head only', async (test) => {
    const { path } = await openServer(test, (stream) => {
      const reply = new Http2Reply(stream);
      reply.writeHead(404, { 'content-length': 5 });
      reply.write('he');
      reply.end('llo');
    });
    const { headers, body } = await read(openClient(test, path).request({ ':path': '/', ':method': 'HEAD' }));
    assert.deepEqual([headers[':status'], headers['content-length'], body], [404, '5', '']);
  });

  it('says before the answer that there will be one', async (test) => {
    const { path } = await openServer(test, (stream) => {
      const reply = new Http2Reply(stream);
      reply.writeProcessing();
      reply.writeHead(200, {});
      reply.writeProcessing();
      reply.end('done');
    });
    const asked = openClient(test, path).request({ ':path': '/' });
    const told: unknown[] = [];
    asked.on('headers', (given: IncomingHttpHeaders) => told.push(given[':status']));
    assert.equal((await read(asked)).body, 'done');
    assert.deepEqual(told, [102, 102], 'the head had not gone out yet');
  });

  it('throws for a header that would begin another one, and nothing has been sent', async (test) => {
    const { path } = await openServer(test, (stream) => {
      const reply = new Http2Reply(stream);
      assert.throws(() => reply.writeHead(200, { 'x-a': 'b\r\nx-c: d' }), TypeError);
      assert.ok(!reply.headersSent);
      reply.writeHead(500, {});
      reply.end();
    });
    const { headers } = await read(openClient(test, path).request({ ':path': '/' }));
    assert.equal(headers[':status'], 500);
  });

  it('tells that it is finished, and then that it is closed', async (test) => {
    const events: string[] = [];
    const { path } = await openServer(test, (stream) => {
      const reply = new Http2Reply(stream);
      reply.on('finish', () => events.push('finish'));
      reply.once('close', () => events.push('close'));
      reply.on('drain', () => assert.fail('there was nothing to wait for'));
      reply.writeHead(200, {});
      reply.end('x');
    });
    await read(openClient(test, path).request({ ':path': '/' }));
    assert.deepEqual(events, ['finish', 'close']);
  });

  it('can be broken off', async (test) => {
    const { path } = await openServer(test, (stream) => {
      const reply = new Http2Reply(stream);
      reply.writeHead(200, {});
      reply.write('half');
      reply.destroy();
      assert.ok(reply.destroyed);
    });
    const asked = openClient(test, path).request({ ':path': '/' });
    asked.resume();
    await assert.rejects(once(asked, 'end'), /NGHTTP2_INTERNAL_ERROR/);
  });
});
