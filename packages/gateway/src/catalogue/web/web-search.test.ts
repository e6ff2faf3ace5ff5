import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { ToolFailure } from '../../call/tool.ts';
import { endsWith } from '../files/test-workspace.ts';
import type { SearchProvider } from '../providers/provider-settings.ts';
import { parseWebAddress } from './web-address.ts';
import { serve, TestWeb } from './web.test-kit.ts';

const key = 'k3y-of-the-s3arch-service';

/** The services, as their documentation says that they speak. Each takes its own key, or none. */
const services: Readonly<Record<SearchProvider['kind'], RequestListener>> = {
  searxng: ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x');
    if (pathname !== '/search' || searchParams.get('format') !== 'json') return void response.writeHead(403).end();
    const results = [
      { title: `About ${searchParams.get('q')}`, url: 'https://a.test/', content: 'First.', engine: 'x' },
      { title: 'Other', url: 'javascript:alert(1)', content: null },
    ];
    response.end(JSON.stringify({ query: searchParams.get('q'), results, number_of_results: 2 }));
  },
  brave: ({ url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x');
    if (headers['x-subscription-token'] !== key)
      return void response.writeHead(401).end(JSON.stringify({ error: { message: `bad ${key}` } }));
    if (pathname !== '/res/v1/web/search') return void response.writeHead(404).end();
    const results = [
      {
        title: `About ${searchParams.get('q')}`,
        url: 'https://a.test/',
        description: `A <strong>bold</strong> &amp; ${key}`,
      },
    ];
    response.end(
      JSON.stringify(searchParams.get('q') === 'nothing' ? { type: 'search' } : { type: 'search', web: { results } }),
    );
  },
  tavily: (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { query, max_results: most } = JSON.parse(body) as { query: string; max_results: number };
      if (request.headers.authorization !== `Bearer ${key}` || request.url !== '/search')
        return void response.writeHead(401).end('{}');
      const results = Array.from({ length: 30 }, (_, at) => ({
        title: `${query} ${at}`,
        url: `https://a.test/${at}`,
        content: `of ${most}`,
        score: 1,
      }));
      response.end(JSON.stringify({ query, results }));
    });
  },
};

function providerAt(kind: SearchProvider['kind'], port: number): SearchProvider {
  const address = parseWebAddress(`http://127.0.0.1:${port}`);
  return { name: kind, kind, address, ...(kind === 'searxng' ? {} : { secret: 'search-key' }) };
}

async function searchWith(kind: SearchProvider['kind'], args: Record<string, string | number>, secret = key) {
  await using server = await serve(services[kind]);
  using web = new TestWeb({
    providers: { search: [providerAt(kind, server.port)] },
    secrets: { 'search-key': secret },
  });
  const found = await web.call('web.search', args);
  assert.deepEqual(web.network, [{ outcome: 'connected', target: `127.0.0.1:${server.port}`, times: 1 }]);
  return found;
}

test('a service without a key, and two with one, are asked and read as each of them speaks', async () => {
  assert.deepEqual(await searchWith('searxng', { query: 'gates & doors' }), {
    provider: 'searxng',
    results: [
      { title: 'About gates & doors', url: 'https://a.test/', snippet: 'First.' },
      { title: 'Other', url: '', snippet: '' },
    ],
    untrusted: true,
  });
  const { results: ofBrave } = await searchWith('brave', { query: 'gates' });
  assert.deepEqual(ofBrave, [{ title: 'About gates', url: 'https://a.test/', snippet: 'A **bold** & [redacted]' }]);
  assert.deepEqual((await searchWith('brave', { query: 'nothing' }))['results'], []);
  const { results: ofTavily } = (await searchWith('tavily', { query: 'gates', max_results: 3 })) as {
    results: { snippet: string }[];
  };
  assert.deepEqual([ofTavily.length, ofTavily[0]?.snippet], [3, 'of 3']);
});

test('a key that is refused is told to operators by its name, and shown to nobody', async () => {
  const wrong = 'an0ther-k3y-of-somebody';
  await assert.rejects(searchWith('brave', { query: 'x' }, wrong), (error: unknown) => {
    assert.ok(error instanceof ToolFailure);
    assert.equal(error.code, 'UPSTREAM_FAILED');
    assert.match(error.textForOperators, /sallyport secret set search-key/);
    assert.doesNotMatch(error.message, /search-key|an0ther/);
    return true;
  });
});

test('without a provider the tool says so, and operators read what to write where', async () => {
  using web = new TestWeb();
  await assert.rejects(web.call('web.search', { query: 'x' }), (error: unknown) => {
    assert.ok(error instanceof ToolFailure);
    assert.equal(error.message, 'No provider for search is set up at this gate.');
    assert.match(error.textForOperators, /providers\.yaml/);
    return true;
  });
  await using server = await serve(services.searxng);
  using other = new TestWeb({ providers: { search: [providerAt('searxng', server.port)] } });
  await assert.rejects(
    other.call('web.search', { query: 'x', provider: 'bing' }),
    endsWith('NOT_FOUND', /There are: searxng/),
  );
});

test('answers in another form, too large or redirected elsewhere are errors', async () => {
  const answers: readonly (readonly [RequestListener, Parameters<typeof endsWith>[0]])[] = [
    [(_, response) => response.end('<html>'), 'EXECUTION_ERROR'],
    [(_, response) => response.end('[]'), 'EXECUTION_ERROR'],
    [(_, response) => response.end('{"results":7}'), 'EXECUTION_ERROR'],
    [(_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(), 'EXECUTION_ERROR'],
    [(_, response) => response.writeHead(429).end(), 'UPSTREAM_UNAVAILABLE'],
    [(_, response) => response.writeHead(503).end(), 'UPSTREAM_UNAVAILABLE'],
    [(_, response) => response.end(Buffer.alloc(5 * 1024 * 1024, ' ')), 'TOO_LARGE'],
  ];
  for (const [answer, code] of answers) {
    await using server = await serve(answer);
    using web = new TestWeb({ providers: { search: [providerAt('searxng', server.port)] } });
    await assert.rejects(web.call('web.search', { query: 'x' }), endsWith(code));
    assert.equal(web.dialled.length, 1);
  }
});

test('the web is searched, fetched and called', async () => {
  requirement('CAT-4');
  await using server = await serve((request, response) => {
    if (request.url?.startsWith('/search') === true) return services.searxng(request, response);
    if (request.url?.startsWith('/res/') === true) return services.brave(request, response);
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${request.method}</p>`);
  });
  const rules = `  - { id: own, effect: allow, tools: ['*'], approval: waived, grants: { hosts: ['127.0.0.1:${server.port}'] } }`;
  const search = [providerAt('searxng', server.port), providerAt('brave', server.port)];
  using web = new TestWeb({ rules, providers: { search }, secrets: { 'search-key': key } });
  const url = `http://127.0.0.1:${server.port}/page`;
  const { results } = (await web.call('web.search', { query: 'x' })) as { results: readonly unknown[] };
  assert.equal(results.length, 2);
  const withKey = await web.call('web.search', { query: 'x', provider: 'brave' });
  assert.equal((withKey['results'] as readonly unknown[]).length, 1);
  assert.equal((await web.call('web.fetch', { url }))['text'], 'GET');
  for (const method of ['get', 'post', 'put', 'delete']) {
    assert.equal((await web.call(`http.${method}`, { url }))['body'], `<p>${method.toUpperCase()}</p>`);
  }
  assert.deepEqual(
    web.tools.flatMap(({ definition }) => definition.aliases),
    ['fetch_url', 'web_search', 'http_get', 'http_post', 'http_put', 'http_delete'],
  );
});
