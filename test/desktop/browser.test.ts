import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { browserOpenUrl } from '../../packages/gateway/src/catalogue/desktop/browser-open-url.ts';
import { ToolRefused } from '../../packages/gateway/src/call/tool.ts';
import { requirement } from '../requirement.ts';
import { sessionOf } from '../../packages/gateway/src/stages/facts.test-kit.ts';
import { ToolWorkshop } from '../executables/tool-workshop.ts';

const skip =
  !['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].some((file) => existsSync(file)) &&
  'install chromium-headless-shell with apt-get';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A web site on this machine. */
async function openSite(t: TestContext, answer: Answer): Promise<{ authority: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.cookie ?? ''}`.trim());
    response.setHeader('content-type', 'text/html; charset=utf-8');
    answer(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { authority: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test(
  'a page is shown by a real browser, in the sandbox, through the gate, with an empty profile',
  { skip },
  async (t) => {
    requirement('CAT-5');
    const workshop = await ToolWorkshop.open(t);
    const secret = await openSite(t, (_request, response) => response.end('never'));
    const site = await openSite(t, ({ url }, response) => {
      if (url === '/away') return response.writeHead(302, { location: `http://${secret.authority}/stolen` }).end();
      response.setHeader('set-cookie', 'visited=yes');
      return response.end(`<title>Hello & more</title><p>Written</p>
      <script>document.body.append('by a script')</script>
      <img src="http://${secret.authority}/image"><iframe src="file:///etc/passwd"></iframe>`);
    });
    const tool = browserOpenUrl();
    const open = async (path: string, more: JsonObject = {}): Promise<JsonObject> => {
      const args = { url: `http://${site.authority}${path}`, max_characters: 1000, screenshot: true, ...more };
      return (await workshop.callTool(tool, args, { grants: { hosts: [site.authority] } })).output as JsonObject;
    };
    const page = await open('/');
    const { screenshot_hash: hash, ...rest } = page;
    assert.deepEqual(rest, {
      ...{ url: `http://${site.authority}/`, title: 'Hello & more', status: 200, truncated: false },
      text: 'Written\n\nby a script',
      refused_hosts: [secret.authority],
    });
    assert.equal(typeof hash, 'string');
    assert.deepEqual(workshop.kept[0]?.subarray(1, 4).toString(), 'PNG');

    const cut = await open('/', { max_characters: 5, screenshot: false });
    assert.deepEqual([cut['text'], cut['truncated'], cut['screenshot_hash']], ['Writt', true, undefined]);
    assert.deepEqual(new Set(site.asked), new Set(['/', '/favicon.ico'].filter((path) => site.asked.includes(path))));
    assert.ok(!site.asked.some((line) => line.includes('visited')), 'nothing is left of the first visit');

    // The answer of the gate is no page: it must not pass for one.
    await assert.rejects(open('/away'), ToolRefused);
    assert.deepEqual(secret.asked, []);
  },
);

test('only a plain web address is opened, and only where a rule grants a host', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const tool = browserOpenUrl();
  for (const url of [
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'chrome://settings',
    'http://ada@example.com/',
    'http://example.com\\@evil.test/',
    'http://2130706433/',
    'http://127.1/',
    'http://exa\u00admple.com/',
    ' http://example.com/',
    'http:///example.com/',
  ]) {
    assert.throws(() => tool.claim({ url }, sessionOf()), ToolRefused, url);
  }
  assert.deepEqual(tool.claim({ url: 'https://example.com/a?b#c' }, sessionOf()).hosts, ['example.com:443']);
  const args = { url: 'http://example.com/', max_characters: 10, screenshot: false };
  await assert.rejects(workshop.callTool(tool, args), ToolRefused);
});
