import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ToolRequestSchema } from '@sallyport/contract';
import { validateToolRequest } from '@sallyport/contract/validation';
import { requirement } from '../requirement.ts';
import { gitOperations, textOfBytes } from './request-arbitraries.ts';

type RequestInit = MessageInitShape<typeof ToolRequestSchema>;

/** What each kind of request needs at least to be valid. */
const smallest = {
  fileRead: { path: 'a' },
  fileWrite: { path: 'a' },
  fileEdit: { path: 'a', oldContent: 'b' },
  shellExec: { command: 'ls' },
  gitOp: { operation: 'STATUS' },
  inference: { provider: 'p', model: 'm', promptHash: new Uint8Array(32) },
  artifactPublish: { artifactId: 'i', contentHash: new Uint8Array(32), category: 'c' },
} as const;

function violationsOf(request: RequestInit): string[] {
  const complete = { requestId: 'r', sessionToken: 's', ...request };
  return validateToolRequest(create(ToolRequestSchema, complete)).map(({ field, rule }) => `${field} ${rule}`);
}

/** A request that is valid but for the fields given. */
function withTool(kind: keyof typeof smallest, fields: object): RequestInit {
  return { tool: { case: kind, value: { ...smallest[kind], ...fields } } as NonNullable<RequestInit['tool']> };
}

function assertValid(...requests: RequestInit[]): void {
  for (const request of requests) assert.deepEqual(violationsOf(request), []);
}

function assertBroken(violation: string, ...requests: RequestInit[]): void {
  for (const request of requests) assert.deepEqual(violationsOf(request), [violation]);
}

/** The same bound for texts of one, two, three and four bytes a character: just inside, and one byte more. */
function assertByteBound(violation: string, bytes: number, requestWith: (text: string) => RequestInit): void {
  for (const character of ['a', 'é', '€', '😀']) {
    assertValid(requestWith(textOfBytes(bytes, character)));
    assertBroken(violation, requestWith(textOfBytes(bytes + 1, character)));
  }
}

function invariant(name: string, prove: () => void): void {
  test(name, () => {
    prove();
  });
}

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

invariant('INV-0001 a request has an id of 1 to 256 bytes', () => {
  assertBroken('request_id required', { ...withTool('fileRead', {}), requestId: '' });
  assertByteBound('request_id max_length', 256, (requestId) => ({ ...withTool('fileRead', {}), requestId }));
});

invariant('INV-0002 a request has a session token of 1 to 256 bytes', () => {
  assertBroken('session_token required', { ...withTool('fileRead', {}), sessionToken: '' });
  assertByteBound('session_token max_length', 256, (sessionToken) => ({ ...withTool('fileRead', {}), sessionToken }));
});

invariant('INV-0003 the dedupe key may be empty and has at most 256 bytes', () => {
  assertValid({ ...withTool('fileRead', {}), dedupeKey: '' });
  assertByteBound('dedupe_key max_length', 256, (dedupeKey) => ({ ...withTool('fileRead', {}), dedupeKey }));
});

invariant('INV-0004 a request names one tool, and each of the seven is one', () => {
  assertBroken('tool required', {});
  const kinds = Object.keys(smallest) as (keyof typeof smallest)[];
  assert.equal(kinds.length, 7);
  assertValid(...kinds.map((kind) => withTool(kind, {})));
});

invariant('INV-0005 a file to read has a path of 1 to 4096 bytes', () => {
  assertBroken('file_read.path required', withTool('fileRead', { path: '' }));
  assertByteBound('file_read.path max_length', 4096, (path) => withTool('fileRead', { path }));
});

const withNul = ['\0', 'a\0', 'a/\0/b', '/etc/passwd\0.txt'];
const climbing = ['..', '../a', 'a/..', 'a/../b', '/..', '/a/../..', '..//', './..'];
const notClimbing = ['...', 'a..b', '..a', 'a..', '.../a', 'a/..b/c', '/. ./', '.', './a', 'é..é'];

invariant('INV-0006 the path of a file to read holds no NUL', () => {
  assertBroken('file_read.path null_byte', ...withNul.map((path) => withTool('fileRead', { path })));
  assertValid(withTool('fileRead', { path: 'a\\0' }), withTool('fileRead', { path: 'a\x01' }));
});

invariant('INV-0007 the path of a file to read has no component `..`, though names may hold two dots', () => {
  assertBroken('file_read.path path_traversal', ...climbing.map((path) => withTool('fileRead', { path })));
  assertValid(...notClimbing.map((path) => withTool('fileRead', { path })));
});

invariant('INV-0008 a read takes at most 1 GB', () => {
  assertValid(withTool('fileRead', { limit: 0n }), withTool('fileRead', { limit: 1_073_741_824n }));
  assertBroken('file_read.limit max', withTool('fileRead', { limit: 1_073_741_825n }));
  assertBroken('file_read.limit max', withTool('fileRead', { limit: 2n ** 64n - 1n }));
});

invariant('INV-0009 a file to write has a path of 1 to 4096 bytes', () => {
  assertBroken('file_write.path required', withTool('fileWrite', { path: '' }));
  assertByteBound('file_write.path max_length', 4096, (path) => withTool('fileWrite', { path }));
});

invariant('INV-0010 the path of a file to write holds no NUL and no component `..`', () => {
  assertBroken('file_write.path null_byte', ...withNul.map((path) => withTool('fileWrite', { path })));
  assertBroken('file_write.path path_traversal', ...climbing.map((path) => withTool('fileWrite', { path })));
  assertValid(...notClimbing.map((path) => withTool('fileWrite', { path })));
});

invariant('INV-0011 a write carries at most 100 MB', () => {
  const content = new Uint8Array(104_857_601);
  assertValid(
    withTool('fileWrite', { content: content.subarray(1) }),
    withTool('fileWrite', { content: content.subarray(0, 0) }),
  );
  assertBroken('file_write.content max_length', withTool('fileWrite', { content }));
});

invariant('INV-0012 a write is not both create_only and append', () => {
  assertValid(
    withTool('fileWrite', { createOnly: true }),
    withTool('fileWrite', { append: true }),
    withTool('fileWrite', {}),
  );
  assertBroken('file_write exclusive', withTool('fileWrite', { createOnly: true, append: true }));
});

invariant('INV-0013 a file to edit has a path of 1 to 4096 bytes', () => {
  assertBroken('file_edit.path required', withTool('fileEdit', { path: '' }));
  assertByteBound('file_edit.path max_length', 4096, (path) => withTool('fileEdit', { path }));
  // Not asked for, but the same danger.
  assertBroken('file_edit.path path_traversal', withTool('fileEdit', { path: '../a' }));
  assertBroken('file_edit.path null_byte', withTool('fileEdit', { path: 'a\0' }));
});

invariant('INV-0014 an edit replaces a passage of 1 byte to 10 MB', () => {
  assertBroken('file_edit.old_content required', withTool('fileEdit', { oldContent: '' }));
  assertByteBound('file_edit.old_content max_length', 10 * megabyte, (oldContent) =>
    withTool('fileEdit', { oldContent }),
  );
});

invariant('INV-0015 an edit puts at most 10 MB in its place, or nothing', () => {
  assertValid(withTool('fileEdit', { newContent: '' }));
  assertByteBound('file_edit.new_content max_length', 10 * megabyte, (newContent) =>
    withTool('fileEdit', { newContent }),
  );
});

invariant('INV-0016 a command has 1 byte to 1 MB', () => {
  assertBroken('shell_exec.command required', withTool('shellExec', { command: '' }));
  assertByteBound('shell_exec.command max_length', megabyte, (command) => withTool('shellExec', { command }));
});

invariant('INV-0017 the folder of a command may be empty and has at most 4096 bytes', () => {
  assertValid(withTool('shellExec', { cwd: '' }));
  assertByteBound('shell_exec.cwd max_length', 4096, (cwd) => withTool('shellExec', { cwd }));
});

invariant('INV-0018 a command runs for at most an hour', () => {
  assertValid(withTool('shellExec', { timeoutMs: 0n }), withTool('shellExec', { timeoutMs: 3_600_000n }));
  assertBroken('shell_exec.timeout_ms max', withTool('shellExec', { timeoutMs: 3_600_001n }));
});

invariant('INV-0019 a command gets at most 1000 variables', () => {
  assertValid(withTool('shellExec', { env: Array<string>(1000).fill('A=1') }));
  assertBroken('shell_exec.env max_items', withTool('shellExec', { env: Array<string>(1001).fill('A=1') }));
});

/** Entries of the form KEY=VALUE: at most 32 KB, exactly one `=`. */
function assertEntries(field: string, requestWith: (entries: string[]) => RequestInit): void {
  assertByteBound(`${field}[0] max_length`, 32 * kilobyte - 1, (text) => requestWith([`=${text}`]));
  assertValid(requestWith(['A=1', 'B=', '=C', '=', 'ключ=значение']));
  for (const entry of ['', 'A', 'A==', 'A=1=2', '==']) {
    assertBroken(`${field}[1] one_equals`, requestWith(['A=1', entry, 'B=2']));
  }
  assert.deepEqual(violationsOf(requestWith(['', 'A=1', 'x'.repeat(32_769)])), [
    `${field}[0] one_equals`,
    `${field}[2] one_equals`,
    `${field}[2] max_length`,
  ]);
}

invariant('INV-0020 a variable has at most 32 KB and exactly one `=`', () => {
  assertEntries('shell_exec.env', (env) => withTool('shellExec', { env }));
});

invariant('INV-0021 a git operation is one of eighteen, in capitals', () => {
  assert.equal(new Set(gitOperations).size, 18);
  assertValid(...gitOperations.map((operation) => withTool('gitOp', { operation })));
  for (const operation of ['status', 'GC', 'PUSH ', 'PUSH\0', 'FETCH PULL', '--exec-path']) {
    assertBroken('git_op.operation one_of', withTool('gitOp', { operation }));
  }
  assertBroken('git_op.operation required', withTool('gitOp', { operation: '' }));
});

invariant('INV-0022 a git operation takes at most 1000 arguments', () => {
  assertValid(withTool('gitOp', { args: Array<string>(1000).fill('') }));
  assertBroken('git_op.args max_items', withTool('gitOp', { args: Array<string>(1001).fill('') }));
});

invariant('INV-0023 an argument of git has at most 32 KB', () => {
  assertByteBound('git_op.args[1] max_length', 32 * kilobyte, (text) => withTool('gitOp', { args: ['-v', text] }));
});

invariant('INV-0024 the folder of a git operation has at most 4096 bytes', () => {
  assertByteBound('git_op.cwd max_length', 4096, (cwd) => withTool('gitOp', { cwd }));
});

invariant('INV-0025 an inference names a provider with 1 to 256 bytes', () => {
  assertBroken('inference.provider required', withTool('inference', { provider: '' }));
  assertByteBound('inference.provider max_length', 256, (provider) => withTool('inference', { provider }));
});

invariant('INV-0026 an inference names a model with 1 to 256 bytes', () => {
  assertBroken('inference.model required', withTool('inference', { model: '' }));
  assertByteBound('inference.model max_length', 256, (model) => withTool('inference', { model }));
});

const hashes = (lengths: readonly number[]): Uint8Array[] => lengths.map((length) => new Uint8Array(length).fill(7));

invariant('INV-0027 the hash of a prompt has exactly 32 bytes', () => {
  assertValid(...hashes([32]).map((promptHash) => withTool('inference', { promptHash })));
  assertBroken(
    'inference.prompt_hash exact_length',
    ...hashes([0, 1, 31, 33, 64]).map((promptHash) => withTool('inference', { promptHash })),
  );
});

invariant('INV-0028 an inference asks for at most 1,000,000 tokens', () => {
  assertValid(withTool('inference', { maxTokens: 0n }), withTool('inference', { maxTokens: 1_000_000n }));
  assertBroken('inference.max_tokens max', withTool('inference', { maxTokens: 1_000_001n }));
});

invariant('INV-0029 the hash of a system prompt is absent or has exactly 32 bytes', () => {
  assertValid(...hashes([0, 32]).map((systemPromptHash) => withTool('inference', { systemPromptHash })));
  assertBroken(
    'inference.system_prompt_hash exact_length',
    ...hashes([1, 31, 33]).map((systemPromptHash) => withTool('inference', { systemPromptHash })),
  );
});

invariant('INV-0030 an artifact has an id of 1 to 256 bytes', () => {
  assertBroken('artifact_publish.artifact_id required', withTool('artifactPublish', { artifactId: '' }));
  assertByteBound('artifact_publish.artifact_id max_length', 256, (artifactId) =>
    withTool('artifactPublish', { artifactId }),
  );
});

invariant('INV-0031 the hash of an artifact has exactly 32 bytes', () => {
  assertValid(...hashes([32]).map((contentHash) => withTool('artifactPublish', { contentHash })));
  assertBroken(
    'artifact_publish.content_hash exact_length',
    ...hashes([0, 31, 33]).map((contentHash) => withTool('artifactPublish', { contentHash })),
  );
});

invariant('INV-0032 an artifact has a category of 1 to 256 bytes', () => {
  assertBroken('artifact_publish.category required', withTool('artifactPublish', { category: '' }));
  assertByteBound('artifact_publish.category max_length', 256, (category) => withTool('artifactPublish', { category }));
});

invariant('INV-0033 an artifact carries at most 1000 entries of metadata', () => {
  assertValid(withTool('artifactPublish', { metadata: Array<string>(1000).fill('A=1') }));
  assertBroken(
    'artifact_publish.metadata max_items',
    withTool('artifactPublish', { metadata: Array<string>(1001).fill('A=1') }),
  );
});

invariant('INV-0034 an entry of metadata has at most 32 KB and exactly one `=`', () => {
  assertEntries('artifact_publish.metadata', (metadata) => withTool('artifactPublish', { metadata }));
});

test('an offset that JSON could not say exactly is a violation, not another offset', () => {
  requirement('PIPE-3');
  assertValid(withTool('fileRead', { offset: 9_007_199_254_740_991n }));
  assertBroken('file_read.offset max', withTool('fileRead', { offset: 9_007_199_254_740_992n }));
  assertBroken('file_read.offset max', withTool('fileRead', { offset: 2n ** 64n - 1n }));
});

test('half of a surrogate pair, which UTF-8 cannot say, is a violation in any text', () => {
  requirement('WIRE-3');
  assertBroken('request_id utf8', { ...withTool('fileRead', {}), requestId: 'a\ud800' });
  assertBroken('file_read.path utf8', withTool('fileRead', { path: '\udc00' }));
  assertBroken('file_edit.new_content utf8', withTool('fileEdit', { newContent: '\ud83d' }));
  assertBroken('shell_exec.env[0] utf8', withTool('shellExec', { env: ['A=\udfff'] }));
});
