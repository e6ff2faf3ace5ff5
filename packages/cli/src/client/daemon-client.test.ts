import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { describeHome } from '@sallyport/gateway';
import { openClient, openOperatorClient } from './daemon-client.ts';
import type { DaemonClient } from './daemon-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-client-'));
const home = describeHome(folder);
const seen: { socket: string; authorization: string | undefined; url: string | undefined; body: unknown }[] = [];
let respond: (request: IncomingMessage, response: ServerResponse) => void;

const servers = [home.operatorSocket, home.agentSocket].map((socket) => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push({ socket, authorization: request.headers.authorization, url: request.url, body: JSON.parse(body) });
      respond(request, response);
    });
  });
  return { server, socket };
});

before(async () => {
  for (const { server, socket } of servers) {
    mkdirSync(dirname(socket), { recursive: true });
    await new Promise<void>((resolve) => server.listen(socket, resolve));
  }
  mkdirSync(dirname(home.operatorCredentialFile));
  writeFileSync(home.operatorCredentialFile, 'operator-secret\n');
  writeFileSync(join(folder, 'token'), 'agent-secret\n');
});

after(() => {
  for (const { server } of servers) server.close();
  rmSync(folder, { recursive: true });
});

const open = (more: object = {}): DaemonClient =>
  openClient({ home, port: 0, startCommand: 'npm start', environment: {}, ...more });

function answerWith(status: number, body: string): void {
  respond = (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
}

test('without a token the caller is the operator, at the operator socket', async () => {
  answerWith(200, '{"mode":"NORMAL"}');
  const client = open();
  assert.equal(client.role, 'operator');
  assert.deepEqual(await client.call('OperatorService/GetStatus', {}), { mode: 'NORMAL' });
  const { socket, authorization, url } = seen.at(-1) ?? {};
  assert.deepEqual(
    [socket, authorization, url],
    [home.operatorSocket, 'Bearer operator-secret', '/sallyport.v1.OperatorService/GetStatus'],
  );
});

test('a token in the environment or a file makes the caller that agent, at the agent socket', async () => {
  answerWith(200, '{}');
  for (const more of [{ environment: { SALLYPORT_TOKEN: 'agent-secret' } }, { tokenFile: join(folder, 'token') }]) {
    const client = open(more);
    assert.equal(client.role, 'agent');
    await client.executeTool({ name: 'files.read' });
    assert.equal(seen.at(-1)?.socket, home.agentSocket);
    assert.equal(seen.at(-1)?.authorization, 'Bearer agent-secret');
    assert.deepEqual(seen.at(-1)?.body, { name: 'files.read' });
  }
});

test('a person with a credential of their own is at the socket where they may, and else at the port', () => {
  const file = join(folder, 'ada');
  writeFileSync(file, 'ada-secret\n', { mode: 0o600 });
  const environment = { SALLYPORT_CREDENTIAL_FILE: file };
  const elsewhere = describeHome(join(folder, 'elsewhere'));
  assert.deepEqual(open({ environment, port: 4780 }).target, { path: home.operatorSocket });
  assert.deepEqual(open({ environment, port: 4780, home: elsewhere }).target, { host: '127.0.0.1', port: 4780 });
  // Which free port it was is not known.
  assert.deepEqual(open({ environment, home: elsewhere }).target, { path: elsewhere.operatorSocket });
  const told = { ...environment, SALLYPORT_ADDRESS: 'http://[::1]:5000' };
  assert.deepEqual(open({ environment: told }).target, { host: '::1', port: 5000 });
});

test('the credential of the first operator goes to no port, whatever address is set', () => {
  const environment = { SALLYPORT_ADDRESS: 'http://127.0.0.1:4780' };
  assert.throws(() => open({ environment }), { exitCode: 1, message: /no credential of yours/ });
  writeFileSync(home.personCredentialFile, 'ada-secret\n', { mode: 0o600 });
  assert.deepEqual(open({ environment }).target, { host: '127.0.0.1', port: 4780 });
  assert.deepEqual(open({ port: 4780 }).target, { path: home.operatorSocket });
  rmSync(home.personCredentialFile);
});

test('an address is one of this machine and nothing more', () => {
  for (const address of [
    'http://192.0.2.1:1',
    'https://127.0.0.1:1',
    'http://a@127.0.0.1:1',
    'http://127.0.0.1:1/#x',
  ]) {
    const environment = { SALLYPORT_TOKEN: 'agent-secret', SALLYPORT_ADDRESS: address };
    assert.throws(() => open({ environment }), { exitCode: 1, message: /SALLYPORT_ADDRESS/ }, address);
  }
});

test('an operator command is refused while a token is set, instead of setting the token aside', () => {
  const environment = { SALLYPORT_TOKEN: 'agent-secret' };
  const options = { home, port: 0, startCommand: 'npm start', environment };
  assert.throws(() => openOperatorClient(options), { exitCode: 1, message: /for the operator/ });
});

test('a token file that is missing or empty is an error of use', () => {
  writeFileSync(join(folder, 'empty'), ' \n');
  assert.throws(() => open({ tokenFile: join(folder, 'none') }), { exitCode: 1, message: /cannot be read/ });
  assert.throws(() => open({ tokenFile: join(folder, 'empty') }), { exitCode: 1, message: /empty/ });
});

test('where no daemon answers, the error says how to start one', async () => {
  const nowhere = describeHome(join(folder, 'nowhere'));
  const expected = { exitCode: 2, code: 'UNREACHABLE', remedy: /npm start/ };
  assert.throws(() => open({ home: nowhere }), expected);
  const noSocket = { ...home, operatorSocket: join(folder, 'no.sock') };
  await assert.rejects(open({ home: noSocket }).call('OperatorService/GetStatus', {}), expected);
});

test('an error of the daemon keeps its message, and its kind chooses the exit code', async () => {
  const cases: [string, number][] = [
    ['unauthenticated', 3],
    ['not_found', 3],
    ['invalid_argument', 1],
    ['unavailable', 2],
    ['internal', 4],
  ];
  for (const [code, exitCode] of cases) {
    answerWith(400, JSON.stringify({ code, message: 'because' }));
    await assert.rejects(open().call('OperatorService/GetStatus', {}), {
      exitCode,
      message: 'because',
      connectCode: code,
    });
  }
});

test('an answer that is no JSON, or an error without words, is still a clear error', async () => {
  answerWith(200, '<html>');
  await assert.rejects(open().call('OperatorService/GetStatus', {}), { code: 'BAD_ANSWER' });
  answerWith(502, 'null');
  await assert.rejects(open().call('OperatorService/GetStatus', {}), { message: 'The daemon answered HTTP 502.' });
});

test('a daemon that ends in the middle of a call is told apart from one that never ran', async () => {
  respond = (request) => request.socket.destroy();
  await assert.rejects(open().executeTool({ name: 'x' }), {
    exitCode: 2,
    code: 'CONNECTION_LOST',
    remedy: /audit tail/,
  });
});

test('cancelling closes the connection, and the command ends as interrupted', async () => {
  const cancel = new AbortController();
  const closed = new Promise<void>((resolve) => {
    respond = (request) => {
      request.socket.once('close', () => resolve());
      cancel.abort();
    };
  });
  await assert.rejects(open().executeTool({ name: 'x' }, { signal: cancel.signal }), { exitCode: 130 });
  await closed;
});
