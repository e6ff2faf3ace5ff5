import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
let token: string;

before(async () => {
  daemon = await TestDaemon.start();
  token = await daemon.newAgent('fuzzer');
  const { workspace, folder } = daemon.place;
  writeFileSync(join(folder, 'outside.txt'), 'outside');
  mkdirSync(join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'outside.txt'), join(workspace, 'link.txt'));
  symlinkSync('../elsewhere', join(workspace, 'linked-folder'));
  linkSync(join(folder, 'outside.txt'), join(workspace, 'hard.txt'));
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
});
after(() => daemon.remove());

/** What every answer to bad input owes: a code, a message for people, and nothing of our insides. */
function assertClear(answer: Answer): string {
  const text = JSON.stringify(answer);
  assert.equal(answer.success, undefined, text);
  assert.doesNotMatch(text, /node:internal|\.ts:\d+:\d+|at [A-Za-z.]+ \(/, 'no stack trace');
  const code = answer.denied?.rationaleCode ?? answer.error?.code ?? '';
  assert.match(code, /^[A-Z_]+$/);
  assert.ok((answer.denied?.message ?? answer.error?.message ?? '').length > 10, text);
  return code;
}

const cases: readonly [why: string, tool: string, input: unknown, code: RegExp][] = [
  ['arguments that are no JSON', 'files.read', '{"path":', /^MALFORMED_ARGUMENTS$/],
  ['arguments that are not an object', 'files.read', '["path"]', /^MALFORMED_ARGUMENTS$/],
  ['a repeated key', 'files.read', '{"path":"a","path":"b"}', /^MALFORMED_ARGUMENTS$/],
  ['a repeated key in disguise', 'files.read', '{"path":"a","p\\u0061th":"b"}', /^MALFORMED_ARGUMENTS$/],
  ['a number that loses precision', 'files.read', '{"path":"a","offset":9007199254740993}', /^MALFORMED_ARGUMENTS$/],
  ['half a surrogate pair', 'files.read', '{"path":"\\ud800"}', /^MALFORMED_ARGUMENTS$/],
  ['very deep nesting', 'files.read', `{"path":${'['.repeat(10_000)}`, /^MALFORMED_ARGUMENTS$/],
  ['a path that climbs', 'files.read', { path: '../outside.txt' }, /^(UNSAFE_PATH|INVALID_ARGUMENTS)$/],
  ['a path that climbs inside', 'files.read', { path: 'a/../../outside.txt' }, /^(UNSAFE_PATH|INVALID_ARGUMENTS)$/],
  ['NUL in a path', 'files.read', { path: 'a\0b' }, /^(UNSAFE_PATH|INVALID_ARGUMENTS)$/],
  ['an empty path', 'files.read', { path: '' }, /^INVALID_ARGUMENTS$/],
  ['an overlong path', 'files.read', { path: 'a/'.repeat(4000) }, /^(UNSAFE_PATH|INVALID_ARGUMENTS)$/],
  ['a link out of the workspace', 'files.read', { path: 'link.txt' }, /^(UNSAFE_PATH|NO_RULE_ALLOWS)$/],
  ['a write through a link', 'files.write', { path: 'link.txt', content: 'x' }, /^(UNSAFE_PATH|NO_RULE_ALLOWS)$/],
  [
    'a write through a linked folder',
    'files.write',
    { path: 'linked-folder/x', content: 'x' },
    /^(UNSAFE_PATH|NO_RULE_ALLOWS)$/,
  ],
  ['a write to a hard link', 'files.write', { path: 'hard.txt', content: 'x' }, /^UNSAFE_PATH$/],
  ['a pipe', 'files.read', { path: 'pipe' }, /^(NOT_A_FILE|UNSAFE_PATH)$/],
  ['a folder read as a file', 'files.read', { path: '.' }, /^NOT_A_FILE$/],
  ['a device', 'files.read', { path: '/dev/zero' }, /^NO_RULE_ALLOWS$/],
  ['the root of another process', 'files.read', { path: '/proc/self/root/etc/passwd' }, /^NO_RULE_ALLOWS$/],
  ['a file that does not exist', 'files.read', { path: 'nowhere.txt' }, /^NOT_FOUND$/],
  [
    'an edit that matches nothing',
    'files.edit',
    { path: 'link.txt', old_content: 'zzz', new_content: '' },
    /^(UNSAFE_PATH|NO_RULE_ALLOWS)$/,
  ],
  [
    'both create_only and append',
    'files.write',
    { path: 'n', content: '', create_only: true, append: true },
    /^INVALID_ARGUMENTS$/,
  ],
];

for (const [why, tool, input, code] of cases) {
  test(`${why}: a clear answer`, async () => {
    requirement('NFR-4', 'EXEC-7');
    assert.match(assertClear(await daemon.call(tool, input, { token })), code);
  });
}

test('a claim of one gigabyte is answered at once and nothing is held for it', async () => {
  requirement('NFR-4');
  const url = new URL(daemon.address);
  const status = await new Promise<number>((resolve, reject) => {
    const sent = request(
      {
        host: url.hostname,
        port: url.port,
        method: 'POST',
        path: '/sallyport.v1.ToolService/ExecuteTool',
        headers: { 'content-type': 'application/json', 'content-length': 1 << 30, authorization: `Bearer ${token}` },
      },
      (response) => resolve(response.statusCode ?? 0),
    );
    sent.on('error', reject);
    sent.write('{"name":');
  });
  assert.ok(status === 429 || status === 413, `status ${status}`);
  const limit = await daemon.call('files.read', { path: 'nowhere.txt', limit: 1_073_741_824 }, { token });
  assertClear(limit);
});

test('arguments above the limit are refused by name', async () => {
  const answer = await daemon.call('files.write', { path: 'big', content: 'x'.repeat(17 * 1024 * 1024) }, { token });
  assert.equal(assertClear(answer), 'ARGUMENTS_TOO_LARGE');
});

test('identifiers beyond their length are all told at once', async () => {
  const answer = await daemon.call('files.read', {}, { token, requestId: 'r'.repeat(257), dedupeKey: 'é'.repeat(129) });
  assert.equal(assertClear(answer), 'MALFORMED_CALL');
  assert.deepEqual(
    answer.denied?.violations?.map(({ field }) => field),
    ['request_id', 'dedupe_key'],
  );
});

test('bytes that are no message are an error of the transport, and the daemon goes on', async () => {
  requirement('NFR-4');
  const { status, json } = await daemon.post('sallyport.v1.ToolService/ExecuteTool', '{"name": 5}', token);
  assert.equal(status, 400);
  assert.equal((json as { code: string }).code, 'invalid_argument');
  assert.equal((await daemon.status())['health'], 'serving');
});
