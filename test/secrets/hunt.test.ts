import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { howMuch } from '../harness/how-much.ts';
import { requirement } from '../requirement.ts';
import { ForbiddenPieces } from './forbidden-pieces.ts';
import { GateInProcess } from './gate-in-process.ts';
import type { ShownTool } from './gate-in-process.ts';
import { huntKnownSecret, huntShapedSecret } from './hunt-secrets.ts';
import { repeatIt, testSeed } from './test-seed.ts';

// A few rounds with new secrets in every run; `node test/secrets/hunt.ts --rounds 200` goes on for longer.
const rounds = howMuch({ usually: 1, long: 10 });

let gate: GateInProcess;
let tools: readonly ShownTool[];

before(async () => {
  gate = await GateInProcess.open();
  tools = await gate.listTools();
});
after(() => gate.close());

test('no answer, record or log line shows a piece of a secret that the gate knows, wherever a caller puts it', async () => {
  requirement('AUD-4');
  for (let round = 0; round < rounds; round++) {
    const { asked, leaks } = await huntKnownSecret(gate, tools, `${testSeed} ${round}`);
    assert.deepEqual(leaks.slice(0, 3), [], repeatIt);
    assert.ok(asked > 100);
  }
});

test('no answer, record or log line shows a piece of what has the shape of a credential', async () => {
  requirement('AUD-4');
  for (let round = 0; round < 3 * rounds; round++) {
    const { leaks } = await huntShapedSecret(gate, tools, `${testSeed} ${round}`);
    assert.deepEqual(leaks.slice(0, 3), [], repeatIt);
  }
});

test('what quotes one line of a key in a command, and one word of a token, shows nothing of it', async () => {
  requirement('AUD-4');
  // Found by the long hunt: the message named the program of the third line, or marked words before it looked at the whole.
  for (const seed of ['probe3 7', 'long1 57']) {
    const { leaks } = await huntShapedSecret(gate, tools, seed);
    assert.deepEqual(leaks.slice(0, 3), [], seed);
  }
});

test('the hunt finds a secret that is only words, and any eight characters of one that is random', () => {
  const random = new ForbiddenPieces({
    kind: 'x',
    value: 'kJ83hs0YqLm2PzXw9BnR',
    randomParts: ['kJ83hs0YqLm2PzXw9BnR'],
  });
  assert.equal(random.find('it is hs0YqLm2, they say')?.piece, 'hs0YqLm2');
  assert.equal(
    random.find(`it is ${Buffer.from('::kJ83hs0YqLm2P').toString('base64')}`)?.how,
    'base64url after 2 bytes',
  );
  assert.equal(random.find('it is hs0YqLm, they say'), undefined);
  const words = new ForbiddenPieces({ kind: 'x', value: 'correct horse battery staple', randomParts: [] });
  assert.ok(words.find('correct%20horse%20battery%20staple'));
  assert.equal(words.find('a correct horse and a battery'), undefined);
  assert.ok(random.find(`it is ${Array.from('hs0YqLm2P').join('\u200b')}`), 'split by what nobody sees');
  assert.ok(random.find(Buffer.from('hs0YqLm2PzXw9', 'utf16le').toString('latin1')), 'in UTF-16');
  assert.ok(random.find(Buffer.from('hs0YqLm2PzXw9BnR', 'utf16le').toString('base64')), 'in UTF-16, in base64');
});
