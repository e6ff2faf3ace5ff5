import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { Connection } from './connection.ts';
import { LaneReply } from './lane-reply.ts';

test('a header cannot begin a line of its own, as with node:http', () => {
  for (const value of ['a\r\nset-cookie: b', 'a\nb', 'a\rb', 'a\0b', 'a\u0100']) {
    const reply = new LaneReply({} as Socket, {} as Connection);
    assert.throws(() => reply.writeHead(200, { 'mcp-session-id': value }), TypeError, JSON.stringify(value));
    assert.equal(reply.hasBegun, false);
  }
});
