import assert from 'node:assert/strict';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../packages/contract/src/canonical-json.ts';
import { ToolFailure } from '../../packages/gateway/src/call/tool.ts';
import { writeSdkRuntime } from '../../packages/gateway/src/programs/run/sdk-runtime.ts';
import { shellTool, ToolWorkshop } from './tool-workshop.ts';

/** A tool of the SDK that is started ahead of its calls, and would go on for ever after its answer. */
const warmTool = (word: string): string => `#!/usr/bin/env node
import { object, serveTool, string, ToolError } from '@sallyport/sdk';
let calls = 0;
serveTool({
  name: 'say', version: '1.0.0', description: 'Says it.', warm: true,
  input: object({ text: string() }),
  run: ({ text }) => {
    console.log('thinking');
    setInterval(() => undefined, 1000);
    if (text === '') throw new ToolError('There is no text.');
    return { said: '${word} ' + text, calls: ++calls, sign: String(process.env.SALLYPORT_ANSWER) };
  },
});
`;

const failureOf = (call: Promise<unknown>): Promise<ToolFailure> =>
  call.then(
    () => assert.fail('the call went through'),
    (error: unknown) => (error instanceof ToolFailure ? error : assert.fail(error as Error)),
  );

/** Long enough for a program to be started ahead. */
const meanwhile = (): Promise<void> => sleep(1000);

test('a tool of the SDK answers each call from a process of its own, started ahead or not', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const sdk = writeSdkRuntime(join(workshop.folder, 'sdk'));
  chmodSync(join(workshop.folder, 'sdk'), 0o755);
  workshop.write('say', warmTool('before'));
  await workshop.start({ sdk });
  await workshop.accept('say');
  for (const text of ['one', 'two', 'three']) {
    const { output, progress } = await workshop.call('say', { text });
    // What the tool starts is not told the sign.
    assert.equal(JSON.stringify(output), JSON.stringify({ said: `before ${text}`, calls: 1, sign: 'undefined' }));
    assert.deepEqual(progress, [{ kind: 'stderr', text: 'thinking\n' }]);
    await meanwhile();
  }
  const { code, message } = await failureOf(workshop.call('say', { text: '' }));
  assert.deepEqual([code, /exit code 3.*There is no text\./s.test(message)], ['EXECUTION_ERROR', true]);
  await meanwhile();
  workshop.write('say', warmTool('after'));
  await workshop.look();
  await assert.rejects(
    workshop.call('say', { text: 'x' }),
    'nothing runs that nobody accepted, though a program waits',
  );
  await workshop.accept('say');
  assert.equal(((await workshop.call('say', { text: 'x' })).output as JsonObject)['said'], 'after x');
});

test('a tool that forges an answer fails, and one that may change a folder is not asked for any', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const folder = join(workshop.folder, 'granted');
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  const forge = String.raw`cat > /dev/null; printf '\036%s 2\n{}' 00000000000000000000000000000000; sleep 100`;
  workshop.write('forge', shellTool('forge', forge, { warm: true }));
  const tell = `cat > /dev/null; printf '{"sign":"%s"}' "$SALLYPORT_ANSWER"`;
  workshop.write('tell', shellTool('tell', tell, { warm: true }));
  workshop.accepting = () => true;
  await workshop.start();
  assert.equal((await failureOf(workshop.call('forge'))).code, 'INVALID_RESULT');
  await meanwhile();
  assert.equal((await failureOf(workshop.call('forge'))).code, 'INVALID_RESULT');
  const signOf = async (grants: object): Promise<unknown> =>
    ((await workshop.call('tell', {}, { grants })).output as JsonObject)['sign'];
  assert.match(String(await signOf({})), /^[0-9a-f]{32}$/);
  assert.equal(await signOf({ write: [folder] }), '');
});
