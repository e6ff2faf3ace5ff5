import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { requirement } from '../requirement.ts';
import { executeToolPath, openEchoDoors } from './echo-doors.ts';
import { askJson, openSocket, readSocket, writeRequest } from './http-exchange.ts';
import { howMuch } from '../harness/how-much.ts';

const http2Preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** An HTTP/2 frame with any type, flags, stream and content. */
function randomFrame(): Buffer {
  const content = randomBytes(randomInt(64));
  const head = Buffer.alloc(9);
  head.writeUIntBE(randomInt(8) === 0 ? randomInt(0xffffff) : content.length, 0, 3);
  head[3] = randomInt(12);
  head[4] = randomInt(256);
  head.writeUInt32BE(randomInt(8), 5);
  return Buffer.concat([head, content]);
}

/** A valid request with some of its bytes changed. */
function bendRequest(port: number): Buffer {
  const bytes = Buffer.from(writeRequest(port, { name: 'x', inputJson: '{}' }));
  for (let change = randomInt(4); change >= 0; change--) bytes[randomInt(bytes.length)] = randomInt(256);
  return bytes.subarray(0, randomInt(bytes.length + 1));
}

function bendFrames(port: number): Buffer {
  const head = (type: string) =>
    `POST ${executeToolPath} HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: ${type}\r\ncontent-length: 40\r\n\r\n`;
  const types = ['application/proto', 'application/grpc-web', 'application/grpc-web-text', 'application/json'];
  return Buffer.concat([Buffer.from(head(types[randomInt(types.length)] ?? '')), randomBytes(40)]);
}

const kinds: readonly ((port: number) => Buffer)[] = [
  () => randomBytes(randomInt(1, 400)),
  () => Buffer.concat([http2Preface, randomBytes(randomInt(1, 400))]),
  () => Buffer.concat([http2Preface, ...Array.from({ length: randomInt(1, 20) }, randomFrame)]),
  () => http2Preface.subarray(0, randomInt(http2Preface.length)),
  bendRequest,
  bendFrames,
];

describe('bytes from an enemy', () => {
  it('never stop the doors from serving, and never reach the log as a failure of ours', async (test) => {
    requirement('WIRE-3', 'NFR-4');
    const { port, agentSocket, logged } = await openEchoDoors(test, undefined, {
      limits: { firstBytesTimeoutMs: 100 },
    });
    for (let round = 0; round < howMuch({ usually: 40, long: 400 }); round++) {
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          const socket = await openSocket(randomInt(2) === 0 ? port : agentSocket);
          const bytes = kinds[randomInt(kinds.length)]?.(port) ?? Buffer.alloc(0);
          const done = readSocket(socket);
          socket.write(bytes);
          setTimeout(() => socket.destroy(), randomInt(20));
          await done;
        }),
      );
      assert.equal((await askJson(port, { inputJson: '1' })).status, 200);
    }
    assert.deepEqual(logged, []);
  });
});
