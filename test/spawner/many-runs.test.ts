import { after, test } from 'node:test';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { checkHoldings, readHoldings, runMany } from './many-runs.ts';
import { howMuch } from '../harness/how-much.ts';

const client = new SpawnerClient();
after(() => client.close());

const manyRuns = howMuch({ usually: 400, long: 1000 });

test(`${manyRuns} runs in flight all end, each with its own output`, async () => {
  await runMany(client, manyRuns, manyRuns);
});

test('runs leave no descriptor, child or memory behind', async () => {
  const before = readHoldings(client);
  await runMany(client, howMuch({ usually: 150, long: 300 }), 8);
  checkHoldings(before, readHoldings(client));
});
