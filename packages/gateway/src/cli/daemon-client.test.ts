import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { describeHome } from '../daemon/home.ts';
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
  openClient({ home, startCommand: 'npm start', environment: {}, ...more });

function answerWith(status: number, body: string): void {
  respond = (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
}

test('without a token the caller is the operator, at the operator socket', async () => {
  answerWith(200, '{"mode":"NORMAL"}');
  const client = open();
  assert.equal(client.role, 'operator');
  assert.deepEqual(await client.getStatus(), { mode: 'NORMAL' });
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

test('an operator command is refused while a token is set, instead of setting the token aside', () => {
  const environment = { SALLYPORT_TOKEN: 'agent-secret' };
  const options = { home, startCommand: 'npm start', environment };
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
  await assert.rejects(open({ home: noSocket }).getStatus(), expected);
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
    await assert.rejects(open().getStatus(), { exitCode, message: 'because', connectCode: code });
  }
});

test('an answer that is no JSON, or an error without words, is still a clear error', async () => {
  answerWith(200, '<html>');
  await assert.rejects(open().getStatus(), { code: 'BAD_ANSWER' });
  answerWith(502, 'null');
  await assert.rejects(open().getStatus(), { message: 'The daemon answered HTTP 502.' });
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
  await assert.rejects(open().executeTool({ name: 'x' }, cancel.signal), { exitCode: 130 });
  await closed;
});
