import { test } from 'node:test';
import { requirement } from '../requirement.ts';
import { killRound, victims } from './kill-rounds.ts';

for (const victim of victims) {
  test(`the ${victim} killed under load leaves no process, control group or folder, and the next run works`, async () => {
    requirement('EXEC-5');
    await killRound(victim);
  });
}
