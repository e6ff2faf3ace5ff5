import type { ToolFailure } from '../../../packages/gateway/src/call/tool.ts';
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import type { Upstream } from '../../../packages/gateway/src/upstreams/upstream.ts';
import { openLoginWorld } from './login-kit.ts';
import type { LoginBehaviour, LoginWorld } from './login-kit.ts';
import { openWorld, textOf, writeUpstream } from './upstream-kit.ts';
import type { UpstreamWorld } from './upstream-kit.ts';

interface Opened {
  readonly server: LoginWorld;
  readonly world: UpstreamWorld;
  readonly upstream: Upstream;
  /** As the operator's tool does it. Resolves with the page that was shown. */
  readonly logIn: (person?: (page: URL) => Promise<unknown>) => Promise<URL>;
}

async function open(
  context: TestContext,
  behaviour: LoginBehaviour = {},
  {
    oauth = {},
    secrets = {},
  }: { readonly oauth?: JsonObject; readonly secrets?: Readonly<Record<string, string>> } = {},
): Promise<Opened> {
  const server = await openLoginWorld(context, behaviour);
  // The authorization server is on this machine, so an operator names it.
  const hosts = [new URL(server.issuer).host];
  const world = await openWorld(context, { web: { url: server.url, oauth: { hosts, ...oauth } } }, { secrets });
  const upstream = world.upstreams.find('web');
  assert.ok(upstream);
  const logIn: Opened['logIn'] = async (person = server.agree) => {
    let shown: URL | undefined;
    const onProgress = (news: { readonly kind: string; readonly text?: string }): void => {
      shown = new URL(/\bhttp\S+/.exec(news.text ?? '')?.[0] ?? '');
      void person(shown);
    };
    await world.call('upstreams.login', { name: 'web' }, { onProgress });
    assert.ok(shown);
    return shown;
  };
  return { server, world, upstream, logIn };
}

async function acceptAll({ world }: Pick<Opened, 'world'>): Promise<void> {
  await world.settle('web', 'accept');
}

const needsLogin = /Log in with `sallyport upstream login web`/;

test('a server that needs a login says so, and works once a person has logged in', async (context) => {
  const { server, world, upstream, logIn } = await open(context);
  await assert.rejects(upstream.connect(), { textForOperators: needsLogin });
  const listed = async () => (await world.call('upstreams.list')) as { readonly upstreams: readonly JsonObject[] };
  assert.equal((await listed()).upstreams[0]?.['state'], 'needs login');
  // Nobody has agreed to anything yet, so nobody else was asked anything.
  assert.deepEqual([...new Set(server.requests)], ['POST mcp']);
  const page = await logIn();
  const asked = Object.fromEntries(page.searchParams);
  assert.equal(asked['code_challenge_method'], 'S256');
  assert.equal(asked['resource'], server.url);
  assert.equal(asked['scope'], 'read');
  assert.match(asked['redirect_uri'] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  assert.equal(server.registrations[0]?.['client_name'], 'Sallyport');
  assert.equal((await listed()).upstreams[0]?.['state'], 'connected');
  await acceptAll({ world });
  assert.equal(textOf(await world.call('web.echo')), 'done');
});

test('what a login gives is kept in one place, known to redaction, and shown nowhere', async (context) => {
  const { server, world, logIn } = await open(context);
  await logIn();
  server.expire();
  await acceptAll({ world });
  await world.call('web.echo');
  const shown = JSON.stringify([
    await world.call('upstreams.list'),
    await world.call('upstreams.show', { name: 'web' }),
    world.events,
    world.requests,
  ]);
  assert.match(shown, /"login":\{"issuer":/);
  assert.equal(server.secrets.length, 5);
  for (const secret of server.secrets) {
    assert.ok(!shown.includes(secret));
    // The world of these tests learns what the store would: everything that was ever given.
    assert.ok(world.learnedBySaving.includes(secret), secret);
  }
});

test('a token that has run out is renewed once for all calls, and each refresh token is used once', async (context) => {
  const { server, world, logIn } = await open(context);
  await logIn();
  await acceptAll({ world });
  for (let round = 0; round < 3; round++) {
    server.expire();
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.call('web.echo')));
    assert.equal(answers.length, 8);
  }
  const refreshes = server.tokenRequests.filter(({ form }) => form.get('grant_type') === 'refresh_token');
  assert.equal(refreshes.length, 3);
  assert.equal(new Set(refreshes.map(({ form }) => form.get('refresh_token'))).size, 3);
  assert.ok(refreshes.every(({ form }) => form.get('resource') === server.url));
});

test('a login that is refused is lost: calls end at once, it is on record, and another login helps', async (context) => {
  const { server, world, upstream, logIn } = await open(context);
  await logIn();
  await acceptAll({ world });
  server.expire();
  server.behaviour.tokenError = {
    status: 400,
    body: { error: 'invalid_grant', error_description: server.secrets[0] ?? '' },
  };
  await assert.rejects(world.call('web.echo'), (error: Error) => {
    assert.match((error as ToolFailure).textForOperators, needsLogin);
    assert.ok(server.secrets.every((secret) => !error.message.includes(secret)));
    return true;
  });
  assert.equal(upstream.state, 'needs login');
  assert.ok(world.events.includes('login_lost web'));
  const before = server.requests.length;
  await assert.rejects(world.call('web.echo'), { textForOperators: needsLogin });
  assert.equal(server.requests.length, before);
  delete server.behaviour.tokenError;
  await logIn();
  assert.equal(textOf(await world.call('web.echo')), 'done');
});

test('a server that refuses what was just renewed for it, or cannot be renewed, wants another login', async (context) => {
  const { server, world, logIn } = await open(context);
  await logIn();
  await acceptAll({ world });
  server.behaviour.refusesAll = true;
  await assert.rejects(world.call('web.echo'), { textForOperators: needsLogin });
  assert.equal(server.tokenRequests.length, 2);
  const short = await open(context, { isShort: true });
  await short.logIn();
  await acceptAll(short);
  short.server.expire();
  await assert.rejects(short.world.call('web.echo'), { textForOperators: needsLogin });
  assert.equal(short.server.tokenRequests.length, 1);
});

test('an authorization server that is out of order loses no login', async (context) => {
  const { server, world, upstream, logIn } = await open(context);
  await logIn();
  await acceptAll({ world });
  server.expire();
  server.behaviour.tokenError = { status: 503, body: `<p>${server.secrets[0]}</p>` };
  await assert.rejects(world.call('web.echo'), (error: Error) => {
    assert.doesNotMatch((error as ToolFailure).textForOperators, needsLogin);
    assert.ok(server.secrets.every((secret) => !error.message.includes(secret)));
    return true;
  });
  delete server.behaviour.tokenError;
  await upstream.reconnect();
  assert.equal(textOf(await world.call('web.echo')), 'done');
});

test('only the answer to the own question counts, no matter who sends browsers to the gate', async (context) => {
  const { server, world, logIn } = await open(context);
  await logIn(async (page) => {
    const back = new URL(page.searchParams.get('redirect_uri') ?? '');
    const state = page.searchParams.get('state') ?? '';
    const tries = [
      `${back.href}?code=forged&state=${'x'.repeat(state.length)}&iss=${server.issuer}`,
      `${back.href}?code=forged&iss=${server.issuer}`,
      `${back.href}?code=forged&code=twice&state=${state}`,
      `${back.origin}/elsewhere?code=forged&state=${state}`,
    ];
    for (const each of tries) assert.ok([400, 404].includes((await fetch(each)).status), each);
    assert.equal((await fetch(`${back.href}?code=forged&state=${state}`, { method: 'POST' })).status, 400);
    const rebound = await new Promise<number | undefined>((resolve) => {
      get(`${back.href}?code=forged&state=${state}`, { headers: { host: 'evil.example' } }, ({ statusCode }) =>
        resolve(statusCode),
      );
    });
    assert.equal(rebound, 404);
    await server.agree(page);
  });
  assert.ok(server.tokenRequests.every(({ form }) => form.get('code') !== 'forged'));
  await acceptAll({ world });
  assert.equal(textOf(await world.call('web.echo')), 'done');
});

const refusals: readonly (readonly [string, LoginBehaviour, RegExp])[] = [
  [
    'a person who says no',
    { answer: { error: 'access_denied', iss: '' } },
    /did not come from the authorization server/,
  ],
  ['an answer of somebody else', { answer: { code: 'x', iss: 'https://evil.example' } }, /did not come from the auth/],
  ['an answer that does not say whose it is', { answer: { code: 'x' } }, /did not come from the authorization server/],
  ['an authorization server without PKCE', { metadata: { code_challenge_methods_supported: undefined } }, /PKCE/],
  [
    'metadata of another name',
    { metadata: { issuer: 'https://other.example' } },
    /uses another name than the upstream/,
  ],
  [
    'a page that is not safe to open',
    { metadata: { authorization_endpoint: 'http://evil.example/login' } },
    /opened safely/,
  ],
  ['a token that travels in the clear', { metadata: { token_endpoint: 'http://evil.example/token' } }, /without https/],
  ['no way to register', { metadata: { registration_endpoint: undefined } }, /name its client_id under oauth/],
  [
    'an error with a story',
    { tokenError: { status: 400, body: { error: 'bad', error_description: 'x\u0007' } } },
    /answered bad/,
  ],
  ['an answer that is no token', { tokenError: { status: 200, body: '{"access_token": "half' } }, /was not JSON/],
];

for (const [what, behaviour, message] of refusals) {
  test(`${what} ends the login with its reason, and nothing is kept`, async (context) => {
    const { world, logIn } = await open(context, behaviour);
    await assert.rejects(logIn(), message);
    assert.equal(world.logins.read('web'), undefined);
  });
}

test('a person who says no is told so by the code alone', async (context) => {
  const { server, logIn } = await open(context);
  server.behaviour.answer = { error: 'access_denied', error_description: 'call this number', iss: server.issuer };
  await assert.rejects(logIn(), (error: Error) => {
    assert.match(error.message, /answered access_denied/);
    assert.doesNotMatch(error.message, /number/);
    return true;
  });
});

test('whatever the server says, the gate asks nothing of inner addresses that nobody named', async (context) => {
  const inner = await openLoginWorld(context);
  const places = [
    inner.issuer,
    inner.issuer.replace('127.0.0.1', 'localhost'),
    'https://127.0.0.1',
    'http://169.254.169.254',
  ];
  for (const place of [...places, 'https://[::1]:1', 'http://public.example']) {
    const { logIn } = await open(context, { authorizationServers: [place] });
    await assert.rejects(logIn(), /it leads to .*, which is not public or not reached over https.*hosts:/s, place);
  }
  for (const name of ['registration_endpoint', 'token_endpoint']) {
    const { logIn } = await open(context, { metadata: { [name]: `${inner.issuer}/x` } });
    await assert.rejects(logIn(), /it leads to/, name);
  }
  const { logIn } = await open(context, {
    redirectMetadataTo: `${inner.issuer}/.well-known/oauth-authorization-server`,
  });
  await assert.rejects(logIn(), /publishes no metadata/);
  assert.deepEqual(inner.requests, []);
});

for (const oauth of [{}, { scopes: ['read'] }]) {
  const who = oauth.scopes === undefined ? 'the server' : 'an operator';
  test(`a call that lacks a scope fails alone, and the next login asks for all, when ${who} chose`, async (context) => {
    const { server, world, upstream, logIn } = await open(context, { writeScope: 'write' }, { oauth });
    await logIn();
    await acceptAll({ world });
    await assert.rejects(world.call('web.write'), {
      textForOperators: /needs a login with the scopes write.*upstream login web/,
    });
    assert.equal(upstream.state, 'connected');
    assert.equal(textOf(await world.call('web.echo')), 'done');
    const page = await logIn();
    assert.equal(page.searchParams.get('scope'), 'read write');
    assert.equal(textOf(await world.call('web.write')), 'done');
    // The same client, at the same address.
    assert.equal(server.registrations.length, 1);
    server.expire();
    server.behaviour.tokenError = { status: 400, body: { error: 'invalid_grant' } };
    await assert.rejects(world.call('web.echo'), { textForOperators: needsLogin });
    delete server.behaviour.tokenError;
    assert.equal((await logIn()).searchParams.get('scope'), 'read write');
  });
}

test('a login that nobody finishes ends with its call, and its port is free again', async (context) => {
  const { world } = await open(context);
  const controller = new AbortController();
  let back = '';
  const onProgress = ({ text = '' }: { readonly text?: string }): void => {
    back = new URL(/\bhttp\S+/.exec(text)?.[0] ?? '').searchParams.get('redirect_uri') ?? '';
    controller.abort(new Error('the person went away'));
  };
  const login = world.call(
    'upstreams.login',
    { name: 'web' },
    { signal: controller.signal, onProgress: onProgress as never },
  );
  await assert.rejects(login, /the person went away/);
  await assert.rejects(fetch(back));
});

test('who logs out leaves nothing behind, and a server at another address gets no token', async (context) => {
  const { server, world, logIn } = await open(context);
  await logIn();
  const login = world.logins.read('web');
  assert.ok(login);
  await world.call('upstreams.logout', { name: 'web' });
  assert.equal(world.logins.read('web'), undefined);
  assert.equal(world.upstreams.find('web')?.state, 'needs login');
  await assert.rejects(world.call('upstreams.logout', { name: 'web' }), { code: 'NOT_FOUND' });
  await world.logins.save('moved', login);
  const before = server.requests.length;
  const elsewhere = await openLoginWorld(context);
  writeUpstream(world.folder, 'moved', { url: elsewhere.url });
  while (world.upstreams.find('moved')?.state !== 'needs login')
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(server.requests.length, before);
  assert.deepEqual(elsewhere.tokenRequests, []);
});

test('an upstream that is removed takes its login with it', async (context) => {
  const { world, logIn } = await open(context);
  await logIn();
  await world.call('upstreams.remove', { name: 'web' });
  assert.equal(world.logins.read('web'), undefined);
});

test('the secret of a client goes to the issuer that the file names, and to no other', async (context) => {
  const secrets = { OURS: 'secret-of-the-client' };
  const server = await openLoginWorld(context);
  const oauth = {
    hosts: [new URL(server.issuer).host],
    client_id: 'gate',
    client_secret: 'OURS',
    issuer: server.issuer,
  };
  const files = {
    web: { url: server.url, oauth },
    machine: { url: server.url, oauth: { ...oauth, grant: 'client_credentials' } },
    fooled: { url: server.url, oauth: { ...oauth, issuer: 'https://ours.example' } },
    robot: { url: server.url, oauth: { ...oauth, issuer: 'https://ours.example', grant: 'client_credentials' } },
  };
  const world = await openWorld(context, files, { secrets });
  const agree = {
    onProgress: (({ text = '' }) => void server.agree(new URL(/\bhttp\S+/.exec(text)?.[0] ?? ''))) as never,
  };
  await assert.rejects(world.call('upstreams.login', { name: 'fooled' }, agree), /is not the one that the credentials/);
  await assert.rejects(
    world.upstreams.find('robot')?.reconnect() ?? Promise.resolve(),
    /is not the one that the credentials/,
  );
  assert.deepEqual(
    server.tokenRequests.filter(({ form }) => form.get('grant_type') !== 'client_credentials'),
    [],
  );
  await world.settle('machine', 'accept');
  assert.equal(textOf(await world.call('machine.echo')), 'done');
  await world.call('upstreams.login', { name: 'web' }, agree);
  const basic = `Basic ${Buffer.from('gate:secret-of-the-client').toString('base64')}`;
  assert.ok(server.tokenRequests.every(({ authorization }) => authorization === basic));
  assert.deepEqual(server.registrations, []);
  assert.ok(world.learned.some((secret) => secret.startsWith('access-')));
});
