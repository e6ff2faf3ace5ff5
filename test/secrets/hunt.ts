import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { GateInProcess } from './gate-in-process.ts';
import { huntKnownSecret, huntShapedSecret } from './hunt-secrets.ts';

// Looks for leaks with secrets that no test has seen: `node test/secrets/hunt.ts --rounds 200 [--seed …]`.
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '50' }, seed: { type: 'string' } } });
const rounds = Number(values.rounds);
const seed = values.seed ?? randomBytes(6).toString('hex');
/** What the gate has learned it never forgets, so that it gets slower with every round. */
const roundsPerGate = 10;

let asked = 0;
let leaking = 0;
const beganAtMs = Date.now();
for (let from = 0; from < rounds; from += roundsPerGate) {
  const gate = await GateInProcess.open();
  try {
    const tools = await gate.listTools();
    for (let round = from; round < Math.min(rounds, from + roundsPerGate); round++) {
      for (const hunt of [huntKnownSecret, huntShapedSecret]) {
        const found = await hunt(gate, tools, `${seed} ${round}`);
        asked += found.asked;
        leaking += found.leaks.length > 0 ? 1 : 0;
        const [first] = found.leaks;
        if (first !== undefined)
          process.stdout.write(`${seed} ${round}: ${found.leaks.length} leaks ${JSON.stringify(first)}\n`);
      }
    }
  } finally {
    await gate.close();
  }
}
const seconds = Math.round((Date.now() - beganAtMs) / 1000);
process.stdout.write(`seed ${seed}: ${rounds} rounds, ${asked} requests, ${leaking} secrets leaked, ${seconds} s\n`);
process.exitCode = leaking === 0 ? 0 : 1;
