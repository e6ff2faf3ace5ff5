import { after, test } from 'node:test';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { checkHoldings, readHoldings, runMany } from './many-runs.ts';

const client = new SpawnerClient();
after(() => client.close());

test('a thousand runs in flight all end, each with its own output', async () => {
  await runMany(client, 1000, 1000);
});

test('runs leave no descriptor, child or memory behind', async () => {
  const before = readHoldings(client);
  await runMany(client, 300, 8);
  checkHoldings(before, readHoldings(client));
});
