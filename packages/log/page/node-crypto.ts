// What the code of the package uses of node:crypto, for a browser: SHA-256 at once. The hashes of browsers answer
// later, which a proof of many steps cannot wait for. This is FIPS 180-4, checked against Node's in the tests.

const roundConstants = fractionsOf((prime) => Math.cbrt(prime), 64);
const initialState = fractionsOf((prime) => Math.sqrt(prime), 8);
const blockBytes = 64;

/** Like node:crypto, for these values only: one character a byte. */
export function hash(algorithm: 'sha256', data: Uint8Array | string, _encoding: 'binary'): string {
  if (algorithm !== 'sha256') throw new Error(`${String(algorithm)} is not here`);
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  const padded = pad(bytes);
  const state = Uint32Array.from(initialState);
  for (let at = 0; at < padded.byteLength; at += blockBytes) compress(state, padded, at);
  return Array.from(state, (word) =>
    String.fromCharCode(word >>> 24, (word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff),
  ).join('');
}

/** A one bit, zeros, and the length in bits fill the last block. */
function pad(bytes: Uint8Array): DataView {
  const length = Math.ceil((bytes.length + 9) / blockBytes) * blockBytes;
  const padded = new Uint8Array(length);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(length - 8, BigInt(bytes.length) * 8n);
  return view;
}

function compress(state: Uint32Array, data: DataView, offset: number): void {
  const words = new Uint32Array(64);
  for (let at = 0; at < 16; at += 1) words[at] = data.getUint32(offset + 4 * at);
  const word = (at: number): number => words[at] as number;
  for (let at = 16; at < 64; at += 1) {
    const [early, late] = [word(at - 15), word(at - 2)];
    const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[at] = word(at - 16) + small0 + word(at - 7) + small1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let at = 0; at < 64; at += 1) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + big1 + choice + (roundConstants[at] as number) + word(at)) | 0;
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + big0 + majority) | 0];
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] as number) + value;
}

function rotate(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits));
}

/** The first 32 bits of the fractions of a root of the first primes, which is what the standard takes. */
function fractionsOf(rootOf: (prime: number) => number, count: number): Uint32Array {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number += 1) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  }
  return Uint32Array.from(primes, (prime) => Math.floor((rootOf(prime) % 1) * 2 ** 32));
}
