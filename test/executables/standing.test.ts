import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { InJson, InstalledTool } from '@sallyport/contract';
import { setTimeout } from 'node:timers/promises';
import { ToolRefused } from '../../packages/gateway/src/call/tool.ts';
import { requirement } from '../requirement.ts';
import { schemaOf, shellTool, ToolWorkshop } from './tool-workshop.ts';

async function refusalOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => assert.fail('the call went through'),
    (error: unknown) => (error instanceof ToolRefused ? error.refusal.code : assert.fail(error as Error)),
  );
}

const say = (word: string): string => shellTool('say', `echo '{"said":"${word}"}'`);

async function said(workshop: ToolWorkshop, name = 'say'): Promise<unknown> {
  return ((await workshop.call(name)).output as { said: unknown }).said;
}

/** With a tool that says hello, and that somebody accepted. */
async function openAccepted(t: TestContext): Promise<ToolWorkshop> {
  const workshop = await ToolWorkshop.open(t);
  workshop.write('say', say('hello'));
  await workshop.start();
  await workshop.accept('say');
  return workshop;
}

test('a new tool is listed and cannot be called until somebody accepts it', async (t) => {
  requirement('DEF-6');
  const workshop = await ToolWorkshop.open(t);
  workshop.write('say', say('hello'));
  await workshop.start();
  assert.equal(workshop.statusOf('say'), 'new');
  const refusal = workshop.registry.find('say')?.tool.explainUnusable?.();
  assert.equal(refusal?.code, 'TOOL_NOT_ACCEPTED');
  assert.match(refusal?.forOperators ?? '', /tool accept say@1\.0\.0/);
  assert.equal(await refusalOf(workshop.call('say')), 'TOOL_NOT_ACCEPTED');
  await workshop.accept('say');
  assert.equal(workshop.statusOf('say'), 'ready');
  assert.equal(await said(workshop), 'hello');
  const [pin] = workshop.store.listToolPins();
  assert.equal(pin?.acceptedBy, 'olga');
  assert.equal(pin?.fileSha256, workshop.tools.installed.find('say').offer?.fileSha256);
});

test('a program that hangs when it is asked for its schema holds up no other', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.write('hang', '#!/bin/sh\nsleep 60\n');
  workshop.write('say', say('hello'));
  await setTimeout(300);
  const starting = workshop.start();
  await workshop.until(() => workshop.registry.find('say') !== undefined, 'the other tool is there');
  assert.deepEqual(
    workshop.schemaRuns.map(({ file }) => file),
    ['say'],
    'the one that hangs has not been given up yet',
  );
  assert.match(workshop.tools.installed.find('hang').reason, /has not answered --schema yet/);
  await starting;
  await workshop.until(() => /within 5000 ms/.test(workshop.tools.installed.find('hang').reason), 'it is given up');
  await workshop.look();
  assert.equal(workshop.schemaRuns.length, 2, 'each was asked once');
});

test('a changed tool cannot be called until the change was looked at, and the difference is shown', async (t) => {
  requirement('DEF-6');
  const workshop = await openAccepted(t);
  workshop.write('say', shellTool('say', `echo '{"said":"evil"}'`, { description: 'Does something else.' }));
  await workshop.look();
  assert.equal(workshop.statusOf('say'), 'changed');
  assert.equal(await refusalOf(workshop.call('say')), 'TOOL_NOT_ACCEPTED');
  const { tools } = await workshop.administer('tools.status', { name: 'say' });
  const [shown] = tools as { difference: string }[];
  assert.match(shown?.difference ?? '', /^-\s+"description": "Does say\."/m);
  assert.match(shown?.difference ?? '', /^\+\s+"description": "Does something else\."/m);
  assert.match(shown?.difference ?? '', /^\+\s+"sha256": /m);
  await workshop.accept('say');
  assert.equal(await said(workshop), 'evil');
});

test('bytes that change while the description stays the same are a change', async (t) => {
  requirement('DEF-6');
  const workshop = await openAccepted(t);
  workshop.write('say', say('evil'));
  await workshop.look();
  assert.equal(workshop.statusOf('say'), 'changed');
});

test('what runs is the accepted file, whatever lies at its place now', async (t) => {
  requirement('DEF-6');
  const workshop = await openAccepted(t);
  // Nobody has looked again: the call is between two looks.
  workshop.write('say', say('evil'));
  assert.equal(await said(workshop), 'hello');
});

test('a stored copy that was tampered with does not run', async (t) => {
  requirement('DEF-6');
  const workshop = await openAccepted(t);
  assert.equal(await said(workshop), 'hello');
  const store = join(workshop.folder, 'tools', 'store');
  const [hash = ''] = readdirSync(store);
  const copy = join(store, hash, 'say');
  chmodSync(copy, 0o755);
  writeFileSync(copy, say('evil'));
  assert.equal(await refusalOf(workshop.call('say')), 'TOOL_MISSING');
});

test('a rule takes tools in without asking: pinned at once, and told to the log', async (t) => {
  requirement('DEF-6');
  const workshop = await ToolWorkshop.open(t);
  workshop.accepting = (name) => name === 'say';
  workshop.write('say', say('hello'));
  workshop.write('other', shellTool('other', 'cat'));
  await workshop.start();
  assert.deepEqual([workshop.statusOf('say'), workshop.statusOf('other')], ['ready', 'new']);
  assert.deepEqual(
    workshop.events.filter(({ event }) => event === 'tool_accepted').map(({ name, by }) => ({ name, by })),
    [{ name: 'say', by: 'accept_new' }],
  );
});

test('names of built-in tools and their aliases are reserved, also as models see them', async (t) => {
  requirement('DEF-6');
  const workshop = await ToolWorkshop.open(t);
  workshop.accepting = () => true;
  for (const [file, name] of [
    ['one', 'tools.accept'],
    ['two', 'tools_accept'],
    ['three', 'fine.name'],
    ['tools.status', 'tools.status'],
  ] as const) {
    workshop.write(file, shellTool(name, 'cat'));
  }
  await workshop.start();
  assert.deepEqual(
    workshop.tools.installed.all.map(({ id }) => id),
    ['fine.name@1.0.0'],
  );
  assert.equal(workshop.registry.find('tools.accept')?.tool.definition.audience, 'operator');
  assert.deepEqual(
    workshop.store.listToolPins().map(({ name }) => name),
    ['fine.name'],
    'and nothing is pinned',
  );
  assert.equal(workshop.tools.installed.skipped.length, 3);
});

test('several versions: a call may name one, and the newest accepted one is meant otherwise', async (t) => {
  requirement('DEF-7');
  const workshop = await ToolWorkshop.open(t);
  const versions = ['1.9.0', '1.10.0', '2.0.0-beta.1'];
  for (const version of versions) {
    workshop.write(`say@${version}`, shellTool('say', `echo '{"said":"${version}"}'`, { version }));
  }
  await workshop.start();
  await workshop.accept('say', '1.9.0');
  assert.equal(await said(workshop), '1.9.0');
  await workshop.accept('say', '1.10.0');
  assert.equal(await said(workshop), '1.10.0');
  assert.equal(await said(workshop, 'say@1.9.0'), '1.9.0');
  assert.equal(await refusalOf(workshop.call('say@2.0.0-beta.1')), 'TOOL_NOT_ACCEPTED');
  assert.equal(workshop.registry.find('say@3.0.0'), undefined);
  assert.deepEqual(
    workshop.registry.versionsOf('say').map(({ definition }) => definition.version),
    versions.toReversed(),
  );
  assert.equal(workshop.registry.all.filter(({ definition }) => definition.name === 'say').length, 1);
  await workshop.accept('say', '2.0.0-beta.1');
  assert.equal(await said(workshop), '2.0.0-beta.1');
});

test('a second file of the same name and version does not take the place of the accepted one', async (t) => {
  const workshop = await openAccepted(t);
  for (const file of ['aaa', 'zzz']) workshop.write(file, say('evil'));
  await workshop.look();
  assert.equal(await said(workshop), 'hello');
  assert.deepEqual(
    workshop.tools.installed.skipped.map(({ file, reason }) => `${file}: ${reason}`),
    ['aaa: another file is say@1.0.0 already', 'zzz: another file is say@1.0.0 already'],
  );
});

test('a program without --schema is listed as such, and takes any object once accepted', async (t) => {
  requirement('BIN-3');
  const workshop = await ToolWorkshop.open(t);
  workshop.write('plain', '#!/bin/sh\n[ "$1" = --schema ] && exit 1\ncat\n');
  workshop.write('silent', '#!/bin/sh\n[ "$1" = --schema ] && exit 0\ncat\n');
  workshop.write('chatty', '#!/bin/sh\necho hello\n');
  workshop.write('hostile', `#!/bin/sh\necho '${schemaOf('hostile', { input_schema: { $async: true } })}'\n`);
  workshop.write('vain', `#!/bin/sh\necho '${schemaOf('Not A Name')}'\n`);
  workshop.accepting = () => true;
  await workshop.start();
  for (const name of ['plain', 'silent', 'chatty', 'hostile', 'vain']) {
    assert.equal(workshop.statusOf(name), 'schema-unknown', name);
    assert.equal(workshop.registry.find(name)?.tool.definition.category, 'schema_unknown', name);
  }
  const reasons = Object.fromEntries(
    workshop.tools.installed.all.map(({ definition, reason }) => [definition.name, reason]),
  );
  assert.match(reasons['plain'] ?? '', /exit code 1/);
  assert.match(reasons['silent'] ?? '', /printed nothing/);
  assert.match(reasons['chatty'] ?? '', /no acceptable JSON/);
  assert.match(reasons['hostile'] ?? '', /"\$async" is not allowed/);
  assert.match(reasons['vain'] ?? '', /its name must be/);
  assert.deepEqual({ ...((await workshop.call('plain', { any: 'thing' })).output as object) }, { any: 'thing' });
});

test('a program that does not start, and one that is gone, are missing, and it is said why', async (t) => {
  requirement('BIN-3');
  const workshop = await ToolWorkshop.open(t);
  workshop.write('broken', '#!/no/such/interpreter\n');
  workshop.write('say', say('hello'));
  workshop.accepting = () => true;
  await workshop.start();
  assert.equal(workshop.statusOf('broken'), 'missing-binary');
  assert.equal(await refusalOf(workshop.call('broken')), 'TOOL_MISSING');
  assert.match(workshop.tools.installed.find('broken').reason, /first line of .* names \/no\/such\/interpreter/);
  rmSync(join(workshop.bin, 'say'));
  await workshop.look();
  assert.equal(workshop.statusOf('say'), 'missing-binary');
  assert.match(workshop.registry.find('say')?.tool.explainUnusable?.()?.message ?? '', /its file is gone/);
  await workshop.administer('tools.remove', { name: 'say' });
  assert.equal(workshop.statusOf('say'), 'absent');
});

test('what went wrong with --schema is shown to operators with what the program wrote, and to no agent', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.write('crash', '#!/bin/sh\necho "cannot find \\033[31mconfig" >&2\nexit 3\n');
  workshop.write('garbled', '#!/bin/sh\necho "{bad json"\necho "half a complaint" >&2\n');
  workshop.write('array', `#!/bin/sh\necho '${schemaOf('array', { input_schema: { type: 'array' } })}'\n`);
  await workshop.start();
  const shown = async (name: string) => {
    const { tools } = await workshop.administer('tools.status', { name });
    const [{ reason, stderr } = {}] = tools as { reason?: string; stderr?: string }[];
    return { reason, stderr };
  };
  const crash = await shown('crash');
  assert.match(crash.reason ?? '', /exit code 3/);
  assert.match(crash.stderr ?? '', /^cannot find \\e\[31mconfig$/);
  const garbled = await shown('garbled');
  assert.match(garbled.reason ?? '', /no acceptable JSON/);
  assert.equal(garbled.stderr, 'half a complaint');
  const array = await shown('array');
  assert.match(array.reason ?? '', /input_schema must be of type object/);
  for (const name of ['crash', 'garbled', 'array']) {
    const { definition, explainUnusable } = workshop.registry.find(name)?.tool ?? assert.fail(name);
    const seen = JSON.stringify([definition, explainUnusable?.()]);
    assert.doesNotMatch(seen, /config|complaint/, 'nobody has accepted its words');
  }
});

test('an accepted tool that breaks stays the tool it was: changed, with the reason, and not taken in by a rule', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.accepting = () => true;
  workshop.write('say.sh', say('hello'));
  await workshop.start();
  assert.equal(workshop.statusOf('say'), 'ready');
  workshop.write('say.sh', '#!/bin/sh\necho "ModuleNotFoundError: No module named requests" >&2\nexit 1\n');
  await workshop.look();
  assert.deepEqual(
    workshop.tools.installed.all.map(({ id, status }) => `${id} ${status}`),
    ['say@1.0.0 changed'],
  );
  const refusal = workshop.registry.find('say')?.tool.explainUnusable?.();
  assert.equal(refusal?.code, 'TOOL_NOT_ACCEPTED');
  assert.match(
    refusal?.message ?? '',
    /its file has changed since it was accepted, and its --schema ended with exit code 1/,
  );
  assert.match(refusal?.forOperators ?? '', /tool status say/);
  await assert.rejects(workshop.accept('say'), /cannot be accepted: .* Fix the file/);
  workshop.write('say.sh', say('mended'));
  await workshop.look();
  assert.equal(await said(workshop), 'mended');
});

test('a schema that takes longer than five seconds is no schema', async (t) => {
  requirement('BIN-2');
  const workshop = await ToolWorkshop.open(t);
  workshop.write('slow', '#!/bin/sh\n[ "$1" = --schema ] && sleep 60\ncat\n');
  await workshop.start();
  assert.equal(workshop.statusOf('slow'), 'schema-unknown');
  assert.match(workshop.tools.installed.find('slow').reason, /within 5000 ms/);
});

test('files that somebody else could change, or that are not what they seem, are no tools', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const outside = join(workshop.folder, 'outside');
  writeFileSync(outside, say('evil'), { mode: 0o755 });
  symlinkSync(outside, join(workshop.bin, 'link'));
  workshop.write('hard', say('evil'));
  linkSync(join(workshop.bin, 'hard'), join(workshop.folder, 'second'));
  workshop.write('open', say('evil'), 0o757);
  workshop.write('setuid', say('evil'), 0o4755);
  workshop.write('setgid', say('evil'), 0o2755);
  workshop.write('data', say('evil'), 0o644);
  workshop.write('Bad Name', say('evil'));
  workshop.write('README.md', 'Read me.', 0o644);
  workshop.write('.hidden', say('evil'));
  mkdirSync(join(workshop.bin, 'folder'));
  workshop.accepting = () => true;
  await workshop.start();
  assert.deepEqual(workshop.tools.installed.all, []);
  assert.deepEqual(workshop.schemaRuns, [], 'and none of them ran');
  const reasons = Object.fromEntries(workshop.tools.installed.skipped.map(({ file, reason }) => [file, reason]));
  assert.deepEqual(Object.keys(reasons).sort(), [
    'Bad Name',
    'data',
    'folder',
    'hard',
    'link',
    'open',
    'setgid',
    'setuid',
  ]);
  assert.match(reasons['link'] ?? '', /it is a link/);
  assert.match(reasons['hard'] ?? '', /hard link/);
  assert.match(reasons['data'] ?? '', /chmod \+x/);
});

test('a folder with a program in it is a tool', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const folder = join(workshop.bin, 'words');
  mkdirSync(join(folder, 'lib'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'words', type: 'module', bin: './main.js' }));
  writeFileSync(join(folder, 'lib', 'word.js'), 'export const word = "inside";\n');
  const main = `#!/usr/bin/env node\nimport { word } from './lib/word.js';\nconst asked = process.argv[2] === '--schema';\nconsole.log(asked ? '${schemaOf('words')}' : JSON.stringify({ said: word }));\n`;
  writeFileSync(join(folder, 'main.js'), main, { mode: 0o755 });
  workshop.accepting = (name) => name === 'words' && workshop.store.listToolPins().length === 0;
  await workshop.start();
  assert.equal(await said(workshop, 'words'), 'inside');
  writeFileSync(join(folder, 'lib', 'word.js'), 'export const word = "evil";\n');
  await workshop.look();
  assert.equal(workshop.statusOf('words'), 'changed');
});

test('a program is asked once: after a restart its answer is read from disk', async (t) => {
  requirement('BIN-1');
  const workshop = await openAccepted(t);
  assert.equal(workshop.schemaRuns.length, 1);
  await workshop.start();
  assert.equal(workshop.schemaRuns.length, 1);
  assert.equal(await said(workshop), 'hello');
  const cache = join(workshop.folder, 'tools', 'cache');
  for (const file of readdirSync(cache)) writeFileSync(join(cache, file), '{"format":1,"answer":{"kind":');
  await workshop.start();
  assert.equal(workshop.schemaRuns.length, 2, 'a damaged one is as good as none');
  assert.equal(workshop.statusOf('say'), 'ready');
});

test('a hundred programs are found, and listing them again runs none', async (t) => {
  requirement('BIN-1');
  const workshop = await ToolWorkshop.open(t);
  const names = Array.from({ length: 100 }, (_, index) => `many.t${index}`);
  for (const name of names) workshop.write(name, shellTool(name, 'cat'));
  workshop.accepting = () => true;
  const beganAtMs = performance.now();
  await workshop.start();
  t.diagnostic(`cold: ${Math.round(performance.now() - beganAtMs)} ms`);
  assert.equal(workshop.tools.installed.all.filter(({ status }) => status === 'ready').length, 100);
  await workshop.look();
  await workshop.start();
  assert.equal(workshop.schemaRuns.length, 100);
});

test('the folder is watched: new, changed and removed programs are noticed by themselves', async (t) => {
  requirement('BIN-1');
  const workshop = await ToolWorkshop.open(t);
  workshop.accepting = () => true;
  await workshop.start();
  let changes = 0;
  t.after(workshop.registry.onChange(() => changes++));
  workshop.write('say', say('one'));
  await workshop.until(() => workshop.statusOf('say') === 'ready', 'the new tool is there');
  assert.equal(await said(workshop), 'one');
  assert.ok(changes > 0);
  const before = workshop.tools.installed.find('say').offer?.fileSha256;
  writeFileSync(join(workshop.bin, '.next'), say('two'), { mode: 0o755 });
  renameSync(join(workshop.bin, '.next'), join(workshop.bin, 'say'));
  await workshop.until(() => workshop.tools.installed.find('say').offer?.fileSha256 !== before, 'the change is seen');
  await workshop.until(() => workshop.statusOf('say') === 'ready', 'and taken in');
  assert.equal(await said(workshop), 'two');
  rmSync(join(workshop.bin, 'say'));
  await workshop.until(() => workshop.statusOf('say') === 'missing-binary', 'it is gone');
  rmSync(workshop.bin, { recursive: true });
  await workshop.until(() => existsSync(workshop.bin), 'the folder is made again');
  // Until everything that the removal set off is over.
  await setTimeout(1000);
  workshop.write('say', say('three'));
  await workshop.until(() => workshop.statusOf('say') === 'ready', 'and watched again');
});

test('a call in flight is not touched by a change of its program', async (t) => {
  requirement('BIN-1');
  const workshop = await ToolWorkshop.open(t);
  workshop.accepting = () => true;
  workshop.write('slow', shellTool('slow', `echo started >&2; sleep 1; echo '{"said":"old"}'`));
  await workshop.start();
  const { tool } = workshop.registry.find('slow') ?? assert.fail();
  const running = workshop.callTool(tool, {});
  workshop.write('slow', shellTool('slow', `echo '{"said":"new"}'`));
  await workshop.look();
  assert.equal(await said(workshop, 'slow'), 'new');
  const { output } = await running;
  assert.deepEqual({ ...(output as object) }, { said: 'old' });
  assert.deepEqual(workshop.registry.schemasOf(tool).output.check(output), [], 'and its result is still checked');
});

test('a file that is still being written is left alone until it is quiet', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  await workshop.start();
  workshop.write('say', '#!/bin/sh\n');
  await workshop.tools.installed.refresh();
  assert.ok(workshop.tools.installed.isUnsettled);
  assert.equal(workshop.statusOf('say'), 'absent');
  workshop.write('say', say('whole'));
  await workshop.look();
  assert.equal(workshop.statusOf('say'), 'new');
});

test('an operator installs, accepts and removes a tool by governed calls', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  await workshop.start();
  const installed = await workshop.administer('tools.install', {
    file_name: 'given.sh',
    content_hash: 'ab'.repeat(32),
  });
  const [given] = installed['tools'] as unknown as InJson<InstalledTool>[];
  assert.deepEqual([given?.name, given?.version, given?.accepted], ['given', '0.0.0', false]);
  await workshop.accept('given');
  const { tools } = await workshop.administer('tools.status', {});
  assert.equal((tools as { accepted: boolean }[])[0]?.accepted, true);
  await assert.rejects(workshop.administer('tools.accept', { name: 'given', sha256: '0'.repeat(12) }), {
    code: 'FILE_CHANGED',
  });
  for (const file_name of ['../x', '.x', 'a/b', 'X']) {
    await assert.rejects(workshop.administer('tools.install', { file_name, content_hash: 'ab'.repeat(32) }), {
      code: 'EXECUTION_ERROR',
    });
  }
  await workshop.administer('tools.remove', { name: 'given' });
  assert.deepEqual(readdirSync(workshop.bin), []);
  assert.deepEqual(workshop.store.listToolPins(), []);
  await assert.rejects(workshop.administer('tools.accept', { name: 'given' }), { code: 'NOT_FOUND' });
});
