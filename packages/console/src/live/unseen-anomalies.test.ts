import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Anomaly } from '../daemon/messages.ts';
import { UnseenAnomalies } from './unseen-anomalies.ts';

const anomaly = (id: string) => ({ id }) as Anomaly;
const idsOf = ({ view }: UnseenAnomalies): string[] => view.get().unseen.map(({ id }) => id);

function open(test: TestContext, ...ids: string[]): UnseenAnomalies {
  test.mock.timers.enable({ apis: ['setTimeout'] });
  const anomalies = new UnseenAnomalies();
  anomalies.begin();
  for (const id of ids) anomalies.hear('unseen', anomaly(id));
  assert.equal(anomalies.view.get().isLoaded, false);
  anomalies.settle();
  return anomalies;
}

describe('anomalies that nobody has seen', () => {
  it('are those that the daemon tells, and leave when somebody has seen them', (test) => {
    const anomalies = open(test, 'a', 'b');
    assert.deepEqual(idsOf(anomalies), ['a', 'b']);
    anomalies.hear('seen', anomaly('a'));
    anomalies.hear('unseen', anomaly('c'));
    test.mock.timers.tick(1000);
    assert.deepEqual(idsOf(anomalies), ['b', 'c']);
  });

  it('that were seen while the connection was lost are gone after it', (test) => {
    const anomalies = open(test, 'a', 'b');
    anomalies.hear('unseen', anomaly('c'));
    anomalies.begin();
    anomalies.hear('unseen', anomaly('b'));
    test.mock.timers.tick(1000);
    assert.deepEqual(idsOf(anomalies), ['a', 'b']);
    anomalies.settle();
    assert.deepEqual(idsOf(anomalies), ['b']);
  });

  it('are news once for many at once', (test) => {
    const anomalies = open(test);
    const before = anomalies.view.get().turn;
    for (const id of ['a', 'b', 'c']) anomalies.hear('unseen', anomaly(id));
    test.mock.timers.tick(1000);
    assert.equal(anomalies.view.get().turn, before + 1);
  });
});
