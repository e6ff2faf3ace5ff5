import type { GetSessionResponseJson } from '@sallyport/contract';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { askConsole, postJson } from './ask-console.ts';
import { ConsoleBrowser, makeLink } from './console-browser.ts';

let browser: ConsoleBrowser;
let daemon: TestDaemon;

before(async () => {
  browser = await ConsoleBrowser.open();
  daemon = await TestDaemon.start();
});
after(async () => {
  await browser.close();
  await daemon.remove();
});

const codeOf = (link: string): string => /#code=(.+)$/.exec(link)?.[1] ?? '';
const logIn = async (code: string) => {
  const { status, text } = await postJson(daemon, '/console/login', { code });
  return { status, ...(JSON.parse(text) as { token: string; sessionId: string; message: string }) };
};
const readStatus = (token: string) =>
  postJson(daemon, '/sallyport.v1.OperatorService/GetStatus', {}, { authorization: `Bearer ${token}` });

describe('the link to the console', () => {
  it('is printed by the command and opens the console, leaving no code in the address', async () => {
    const { stdout } = runSallyport(daemon.place, ['console']);
    const link = /http:\/\/\S+/.exec(stdout)?.[0] ?? '';
    assert.match(link, new RegExp(`^${daemon.address}/#code=[\\w-]{43}$`));
    const visit = await browser.visit();
    const { page, context } = visit;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Today', exact: true }).waitFor();
    assert.equal(new URL(page.url()).hash, '');
    assert.deepEqual(await context.cookies(), []);
    await page.reload();
    await page.getByRole('heading', { name: 'Today', exact: true }).waitFor();
    await visit.close();
  });

  it('works once, no matter who was first', async () => {
    const link = await makeLink(daemon);
    const first = await browser.visit();
    await first.page.goto(link);
    await first.page.getByRole('heading', { name: 'Today', exact: true }).waitFor();
    const second = await browser.visit();
    await second.page.goto(link);
    await second.page.getByText('The link was used before or is too old.').waitFor();
    await Promise.all([first.close(), second.close()]);
  });

  it('is not used up by the one who only fetches the address, such as a preview', async () => {
    const link = await makeLink(daemon);
    assert.equal((await askConsole(daemon, '/')).status, 200);
    assert.equal((await logIn(codeOf(link))).status, 200);
  });

  it('gives a session that is on record, for the door of the console only, and for twelve hours', async () => {
    const { length } = await daemon.records();
    const { token, sessionId } = await logIn(codeOf(await makeLink(daemon)));
    const fresh = (await daemon.records(length)).map(({ payload }) => payload);
    assert.ok(fresh.some(({ tool }) => tool === 'console.link'));
    assert.ok(fresh.some(({ event, agent }) => event === 'console_login' && agent === 'operator'));
    assert.equal((await readStatus(token)).status, 200);
    const shown = await daemon.call('sessions.show', { session_id: sessionId });
    const { session } = JSON.parse(shown.success?.outputJson ?? '{}') as GetSessionResponseJson;
    assert.equal(Number(session?.expiresAtMs) - Number(session?.createdAtMs), 12 * 3_600_000);
    // The operator's own credential is not accepted here, nor the console's at the socket.
    assert.notEqual((await readStatus(daemon.operatorToken)).status, 200);
  });

  it('cannot be made by a console or an agent', async () => {
    const { token } = await logIn(codeOf(await makeLink(daemon)));
    const byConsole = await daemon.call('console.link', {}, { token });
    assert.match(byConsole.error?.message ?? '', /terminal/);
    const byAgent = await daemon.call('console.link', {}, { token: await daemon.newAgent('coder') });
    assert.equal(byAgent.success, undefined);
  });

  it('is refused and recorded when the code is a guess', async () => {
    const { length } = await daemon.records();
    const isRecorded = async (): Promise<boolean> =>
      (await daemon.records(length)).some(({ payload }) => payload['event'] === 'console_login_refused');
    // Of several attempts in one second the first is recorded, and the others are counted.
    do {
      const guess = await logIn('x'.repeat(43));
      assert.equal(guess.status, 401);
      assert.match(guess.message, /sallyport console/);
    } while (!(await isRecorded()));
  });

  it('is worth nothing once the person may no longer run the gate, and neither are their consoles', async () => {
    const added = await daemon.call('people.add', { name: 'grace' });
    const person = JSON.parse(added.success?.outputJson ?? '{}') as { personId: string; credential: string };
    const file = join(daemon.place.folder, 'grace');
    writeFileSync(file, `${person.credential}\n`, { mode: 0o600 });
    const makeCode = (): string => {
      const { stdout } = runSallyport(daemon.place, ['console'], { SALLYPORT_CREDENTIAL_FILE: file });
      return codeOf(/http:\/\/\S+/.exec(stdout)?.[0] ?? '');
    };
    const { token } = await logIn(makeCode());
    assert.equal((await readStatus(token)).status, 200);
    const unused = makeCode();
    await daemon.call('people.revoke', { person_id: person.personId });
    assert.equal((await readStatus(token)).status, 401);
    assert.equal((await logIn(unused)).status, 401);
    const people = await daemon.call('people.list', {});
    assert.doesNotMatch(people.success?.outputJson ?? '', /grace/);
  });
});

describe('a console', () => {
  it('is ended by logging out, in every tab, and its token opens nothing any more', async () => {
    const visit = await browser.logIn(daemon);
    const { token } = await visit.readCredential();
    const other = await visit.context.newPage();
    await other.goto(daemon.address);
    await other.getByRole('heading', { name: 'Today', exact: true }).waitFor();
    await visit.page.getByRole('button', { name: /^Log out/ }).click();
    for (const page of [visit.page, other]) {
      await page.getByRole('heading', { name: 'Open the console from your terminal' }).waitFor();
    }
    assert.equal((await readStatus(token)).status, 401);
    await visit.close();
  });

  it('says how to come back when somebody else ends its session', async () => {
    const visit = await browser.logIn(daemon);
    const { sessionId } = await visit.readCredential();
    await daemon.call('sessions.end', { session_id: sessionId });
    await visit.page.getByText('npx sallyport console').waitFor();
    await visit.close();
  });
});

describe('requests from elsewhere', () => {
  it('are refused by Host and by Origin on every path of the console', async () => {
    const { port } = new URL(daemon.address);
    const page = await askConsole(daemon, '/');
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? '';
    assert.notEqual(script, '');
    const strangers: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: `evil.example:${port}` },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${Number(port) + 1}` },
    ];
    for (const headers of strangers) {
      for (const path of ['/', script]) assert.equal((await askConsole(daemon, path, { headers })).status, 403, path);
      for (const path of ['/console/login', '/console/logout', '/sallyport.v1.ApprovalService/ListApprovals']) {
        assert.equal((await postJson(daemon, path, {}, headers)).status, 403, `${path} ${JSON.stringify(headers)}`);
      }
    }
  });

  it('are refused to a page on another port of this host, also with a code or a token it has come by', async () => {
    const code = codeOf(await makeLink(daemon));
    const { token } = await logIn(codeOf(await makeLink(daemon)));
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Elsewhere</title>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const visit = await browser.visit();
    await visit.page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const tried = await visit.page.evaluate(
      async ([address, stolenCode, stolenToken]) => {
        const send = async (path: string, init: RequestInit): Promise<string> => {
          try {
            return `answered ${(await fetch(`${address}${path}`, { method: 'POST', ...init })).type}`;
          } catch {
            return 'failed';
          }
        };
        const body = JSON.stringify({ code: stolenCode });
        const json = { 'content-type': 'application/json' };
        return {
          login: await send('/console/login', { headers: json, body }),
          // What needs no permission is sent, and must come to nothing.
          simple: await send('/console/login', { mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body }),
          api: await send('/sallyport.v1.OperatorService/Stop', {
            headers: { ...json, authorization: `Bearer ${stolenToken}` },
            body: '{}',
          }),
        };
      },
      [daemon.address, code, token],
    );
    assert.deepEqual(tried, { login: 'failed', simple: 'answered opaque', api: 'failed' });
    // Nothing was used up, and the daemon still runs.
    assert.equal((await logIn(code)).status, 200);
    await visit.close();
    server.close();
  });

  it('with the token of an agent do not reach what people decide with', async () => {
    const authorization = `Bearer ${await daemon.newAgent('coder')}`;
    for (const path of [
      'ApprovalService/ListApprovals',
      'ApprovalService/DecideApproval',
      'OperatorService/ReadAudit',
    ]) {
      const { status } = await postJson(daemon, `/sallyport.v1.${path}`, {}, { authorization });
      assert.equal(status, 403, path);
    }
    assert.equal((await postJson(daemon, '/console/logout', {}, { authorization })).status, 403);
  });
});

describe('the page', () => {
  it('is sent with a strict policy, and what may be kept is only what never changes', async () => {
    const { headers, text } = await askConsole(daemon, '/');
    const policy = String(headers['content-security-policy']);
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(part), part);
    }
    assert.doesNotMatch(policy, /unsafe|data:|https?:|\*/);
    assert.doesNotMatch(text, /<style|<script(?![^>]* src=)|style="|onload=/);
    assert.equal(headers['cache-control'], 'no-store');
    for (const asset of text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
      const sent = await askConsole(daemon, asset[1] ?? '');
      assert.match(String(sent.headers['cache-control']), /immutable/);
      assert.equal(sent.headers['x-content-type-options'], 'nosniff');
      assert.equal(sent.headers['referrer-policy'], 'no-referrer');
    }
    const { token } = await logIn(codeOf(await makeLink(daemon)));
    assert.equal((await readStatus(token)).headers['cache-control'], 'no-store');
  });

  it('is served for browsers only: not at the sockets', async () => {
    const { status } = await daemon.post('console/login', { code: 'x' });
    assert.equal(status, 404);
  });
});
