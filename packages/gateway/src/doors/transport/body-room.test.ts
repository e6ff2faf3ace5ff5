import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyRoom } from './body-room.ts';
import type { RoomTicket } from './body-room.ts';

async function take(room: BodyRoom, owner: string, bytes: number): Promise<RoomTicket> {
  const ticket = room.open(owner);
  await ticket.grow(bytes);
  return ticket;
}

const refusal = { code: 'resource_exhausted' };
const limits = { maxBytes: 100, maxBytesPerOwner: 25, maxSmallBytes: 30, maxWaitMs: 60_000 };

describe('BodyRoom', () => {
  it('gives one session one request of any size, and beside it only its share', async () => {
    const room = new BodyRoom(limits);
    const large = await take(room, 'a', 70);
    const waiting = take(room, 'a', 5);
    assert.equal((await take(room, 'b', 20)).bytes, 20);
    large.release();
    assert.equal((await waiting).bytes, 5);
    assert.equal((await take(room, 'a', 20)).bytes, 20);
    assert.equal(room.takenBytes, 45);
  });

  it('takes a request that is larger than all of the room when there is no other, and then no other beside it', async () => {
    const room = new BodyRoom(limits);
    const small = await take(room, 'a', 10);
    const huge = take(room, 'b', 130);
    small.release();
    const ticket = await huge;
    const waiting = take(room, 'c', 1);
    assert.equal(room.takenBytes, 130);
    ticket.release();
    assert.equal((await waiting).bytes, 1);
  });

  it('lets a small request of another session pass a large one that waits', async () => {
    const room = new BodyRoom(limits);
    const first = await take(room, 'a', 70);
    const second = take(room, 'b', 70);
    assert.equal((await take(room, 'c', 20)).bytes, 20);
    first.release();
    assert.equal((await second).bytes, 70);
  });

  it('counts small requests of strangers apart from those of known callers', () => {
    const room = new BodyRoom(limits);
    room.takeSmall('stranger', 30);
    assert.throws(() => room.takeSmall('stranger', 1), refusal);
    room.takeSmall('known', 30);
    room.giveSmall('stranger', 1);
    room.takeSmall('stranger', 1);
  });

  it('answers who waits too long, who leaves, and who grows without room', async () => {
    const room = new BodyRoom({ ...limits, maxWaitMs: 1 });
    const holder = await take(room, 'a', 90);
    await assert.rejects(take(room, 'b', 20), refusal);
    const patient = new BodyRoom(limits);
    await take(patient, 'a', 90);
    const leaving = patient.open('b');
    const waiting = leaving.grow(20);
    leaving.release();
    await assert.rejects(waiting, refusal);
    await holder.grow(95);
    const beside = await take(room, 'c', 5);
    await assert.rejects(holder.grow(96), refusal);
    beside.release();
    holder.release();
    holder.release();
    assert.equal(room.takenBytes, 0);
  });
});
