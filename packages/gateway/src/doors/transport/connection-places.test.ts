import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConnectionPlaces } from './connection-places.ts';

function crowd(maxPlaces: number) {
  const places = new ConnectionPlaces(maxPlaces);
  const evicted: string[] = [];
  const enter = (name: string, owner?: string, isIdle = true) => {
    const occupant = { isIdle: () => isIdle, evict: () => void evicted.push(name) };
    places.enter(occupant);
    if (owner !== undefined) places.recognise(occupant, owner);
    return occupant;
  };
  return { places, evicted, enter };
}

describe('ConnectionPlaces', () => {
  it('evicts the stranger who came first, and nobody who is known', () => {
    const { evicted, enter } = crowd(4);
    enter('ada', 'a');
    for (const name of ['s1', 's2', 's3', 's4', 's5']) enter(name);
    enter('bob', 'b');
    assert.deepEqual(evicted, ['s1', 's2', 's3']);
  });

  it('keeps places for newcomers: the session that holds most gives way, with what idles first', () => {
    const { evicted, enter } = crowd(8);
    enter('ada', 'a');
    for (const name of ['g1', 'g2', 'g3', 'g4', 'g5']) enter(name, 'g', name === 'g3');
    enter('bob', 'b');
    enter('g6', 'g', false);
    assert.deepEqual(evicted, ['g3', 'g1']);
  });

  it('gives a place back when somebody leaves, and follows who presents another credential', () => {
    const { places, evicted, enter } = crowd(4);
    const ada = enter('ada', 'a');
    const bob = enter('bob', 'b');
    places.recognise(bob, 'a');
    places.leave(ada);
    places.leave(ada);
    for (const name of ['s1', 's2', 's3']) enter(name);
    assert.deepEqual(evicted, []);
    places.leave(bob);
    places.recognise(bob, 'b');
    enter('s4');
    assert.deepEqual(evicted, []);
  });
});
