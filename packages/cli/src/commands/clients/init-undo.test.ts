import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { KeptSettings } from './kept-settings.ts';
import { listClients } from './known-clients.ts';
import type { KnownClient } from './known-clients.ts';
import { hasOwnServer, planClient, takeOut } from './plan-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-init-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const program = { words: ['/usr/bin/node', '/opt/sallyport.mjs'], environment: { SALLYPORT_HOME: '/srv/gate' } };
const emptyBook = () => ({ upstreams: new Set<string>(), secrets: new Set<string>(), imports: new Map() });
const clientsIn = (home: string): readonly KnownClient[] => listClients(home, { PATH: '' }, program);
const names = clientsIn('/').map(({ name }) => name);

/** JSON as people write it: comments, trailing commas, tabs. */
const jsonText = fc
  .tuple(
    fc.dictionary(
      fc.string({ minLength: 1 }).filter((key) => key !== '__proto__' && key !== 'hooks'),
      fc.jsonValue(),
    ),
    fc.constantFrom('none', 'lines', 'blocks'),
    fc.boolean(),
    fc.constantFrom('  ', '\t', ''),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
  )
  .map(([members, comments, hasTrailingComma, indent, eol, hasServers]) => {
    const settings = hasServers
      ? { ...members, mcpServers: foreign, mcp: foreign, servers: foreign, context_servers: foreign }
      : members;
    const lines = Object.entries(settings).map(
      ([key, value], at, all) =>
        `${indent}${comments === 'blocks' ? '/* why */ ' : ''}${JSON.stringify(key)}: ${JSON.stringify(value)}` +
        `${at < all.length - 1 || hasTrailingComma ? ',' : ''}${comments === 'lines' ? ' // mine' : ''}`,
    );
    return ['{', ...lines, '}', ''].join(eol);
  });

const foreign = {
  docs: { type: 'http', url: 'https://mcp.example.com/mcp', headers: { Authorization: 'Bearer hunter2hunter2' } },
  local: { command: '/usr/bin/true', args: ['--x'], env: { API_KEY: 'abcdefgh12345678', LANG: 'C' } },
  off: { command: 'uvx', args: ['thing'] },
};

const tomlText = fc
  .tuple(fc.array(fc.stringMatching(/^[a-z ]{0,20}$/), { maxLength: 4 }), fc.boolean(), fc.constantFrom('\n', '\r\n'))
  .map(([remarks, hasServers, eol]) =>
    [
      ...remarks.map((remark) => `# ${remark}`),
      'model = "o" # mine',
      '',
      '[profiles."a b"]',
      'text = """',
      '[mcp_servers.fake]',
      '"""',
      ...(hasServers
        ? [
            '# about docs',
            '[mcp_servers.docs]',
            'url = "https://mcp.example.com/mcp"',
            'http_headers = { "X-Key" = "abcdefgh12345678" }',
            '',
            '[mcp_servers."local"]',
            'command = "/usr/bin/true"',
            '[mcp_servers.local.env]',
            'LANG = "C"',
            '',
          ]
        : []),
      '[tui]',
      'theme = "x"',
    ].join(eol),
  );

let turn = 0;

for (const name of names) {
  test(`${name}: init, however often, and then undo gives the same bytes`, () => {
    const kind = fc.constantFrom('plain', 'link', 'read-only', 'missing', 'empty');
    fc.assert(
      fc.property(jsonText, tomlText, kind, fc.integer({ min: 1, max: 3 }), (json, toml, how, times) => {
        const home = join(folder, String(turn++));
        const client = clientsIn(home).find((each) => each.name === name);
        assert.ok(client !== undefined);
        const files = [...new Set([client.servers.file, ...(client.hooks ? [client.hooks.file] : [])])];
        const textOf = (file: string): string => (how === 'empty' ? '' : file.endsWith('.toml') ? toml : json);
        for (const file of files) {
          if (how === 'missing' || file.endsWith('.js')) continue;
          mkdirSync(dirname(file), { recursive: true });
          const target = how === 'link' ? `${file}.elsewhere` : file;
          writeFileSync(target, textOf(file));
          if (how === 'link') symlinkSync(target, file);
          if (how === 'read-only') chmodSync(file, 0o400);
        }
        const before = new Map(files.map((file) => [file, snapshot(file)]));
        const kept = new KeptSettings(join(home, 'gate'));
        for (let time = 0; time < times; time++) {
          const plan = planClient(client, '/srv/app', emptyBook(), kept);
          for (const { file, before: present, edit } of plan.files) {
            const edited = edit(present);
            if (time > 0) assert.equal(edited, present, 'a second time changes nothing');
            if (edited !== present) kept.replace(name, file, edited);
          }
        }
        assert.ok(hasOwnServer(client, readFileSync(client.servers.file, 'utf8')));
        const { member, file: serverFile } = client.servers;
        const written = parseSettings(readFileSync(serverFile, 'utf8'), serverFile)[member];
        assert.ok(!JSON.stringify(written).includes('hunter2hunter2'));
        for (const { how: end } of kept.restore(name)) assert.equal(end, 'restored');
        for (const file of files) assert.deepEqual(snapshot(file), before.get(file), file);
        assert.deepEqual(kept.restore(name), []);
      }),
      { numRuns: 10 },
    );
  });
}

test('what was there before is not kept in the clear', () => {
  const home = join(folder, 'sealed');
  const file = join(home, 'settings.json');
  mkdirSync(home);
  writeFileSync(file, '{"token": "hunter2hunter2"}');
  const kept = new KeptSettings(join(home, 'gate'));
  kept.replace('x', file, '{}');
  const stored = readFileSync(join(home, 'gate', 'clients', 'before', 'x.json'), 'utf8');
  assert.ok(!stored.includes('hunter2') && !stored.includes(Buffer.from('hunter2').toString('base64').slice(0, 8)));
});

test('of a file that somebody has changed since, only what is ours is taken out, and servers come back', () => {
  for (const name of names) {
    const home = join(folder, `changed-${name}`);
    const client = clientsIn(home).find((each) => each.name === name);
    assert.ok(client !== undefined);
    const { file, format, member } = client.servers;
    mkdirSync(dirname(file), { recursive: true });
    const servers = { docs: foreign.docs };
    writeFileSync(
      file,
      format === 'toml'
        ? '[mcp_servers.docs]\nurl = "https://mcp.example.com/mcp"\n'
        : JSON.stringify({ [member]: servers }),
    );
    const kept = new KeptSettings(join(home, 'gate'));
    for (const planned of planClient(client, '/srv/app', emptyBook(), kept).files) {
      kept.replace(name, planned.file, planned.edit(planned.before));
    }
    const parse = (text: string) => parseSettings(text, file);
    const present = readFileSync(file, 'utf8');
    assert.deepEqual(Object.keys(parse(present)[member] ?? {}), ['sallyport']);
    writeFileSync(file, format === 'toml' ? `added = 1\n${present}` : present.replace('{', '{"added": 1,'));
    const ends = kept.restore(name, takeOut(client, '/srv/app'));
    assert.ok(
      ends.some((end) => end.file === file && end.how === 'taken out'),
      JSON.stringify(ends),
    );
    const rest = parse(readFileSync(file, 'utf8'));
    assert.deepEqual([Object.keys(rest[member] ?? {}), rest['added']], [['docs'], 1]);
  }
});

test('a file that cannot be understood any more stays as it is', () => {
  const home = join(folder, 'unclear');
  const [client] = clientsIn(home);
  assert.ok(client !== undefined);
  const kept = new KeptSettings(join(home, 'gate'));
  for (const { file, edit, before } of planClient(client, '/srv/app', emptyBook(), kept).files)
    kept.replace('x', file, edit(before));
  writeFileSync(client.servers.file, 'not json');
  const ends = kept.restore('x', takeOut(client, '/srv/app'));
  assert.ok(ends.some(({ file, how }) => file === client.servers.file && how === 'changed'));
  assert.equal(readFileSync(client.servers.file, 'utf8'), 'not json');
});

function parseSettings(text: string, file: string): Record<string, Record<string, unknown>> {
  return (file.endsWith('.toml') ? parseToml(text) : parseJson(text)) as Record<string, Record<string, unknown>>;
}

function snapshot(file: string): { readonly bytes: string; readonly mode: number } | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && { bytes: readFileSync(file).toString('hex'), mode: found.mode };
}
