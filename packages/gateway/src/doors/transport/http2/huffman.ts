/**
 * RFC 7541, appendix B: the length of the code of each byte, and at last of the end of the string, as digits of base 36.
 * The code is canonical, so the lengths say all: codes of one length count up in the order of the bytes.
 */
const codeLengths =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u';
const endOfString = 256;

/**
 * A walk through the code tree, half a byte at a time. Its states are the inner nodes of the tree, 0 the root, and one
 * more that nothing leads out of. No code is shorter than five bits, so half a byte ends one code at most.
 */
interface Walk {
  /** By state and half byte: the next state, and the byte whose code ends here. */
  readonly steps: Int32Array;
  /** Whether a string may end in a state: all that is left over are ones, and fewer than eight of them. */
  readonly mayEnd: Uint8Array;
}

const deadState = 256;
const emits = 1 << 24;
const byteShift = 16;
const stateMask = 0xffff;

/** Built with the first string that needs it. */
let walk: Walk | undefined;
let scratch = Buffer.alloc(0);
const keptScratchBytes = 16 * 1024;

/** The text, one character a byte, or undefined when the code is broken. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  walk ??= buildWalk();
  const { steps, mayEnd } = walk;
  const decoded = takeScratch(Math.ceil(((end - start) * 8) / 5));
  let length = 0;
  let state = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    let step = steps[(state << 4) | (byte >> 4)] ?? 0;
    if (step >= emits) decoded[length++] = step >> byteShift;
    step = steps[((step & stateMask) << 4) | (byte & 0x0f)] ?? 0;
    if (step >= emits) decoded[length++] = step >> byteShift;
    state = step & stateMask;
  }
  return mayEnd[state] === 1 ? decoded.toString('latin1', 0, length) : undefined;
}

function takeScratch(bytes: number): Buffer {
  if (bytes <= scratch.length) return scratch;
  if (bytes > keptScratchBytes) return Buffer.allocUnsafe(bytes);
  scratch = Buffer.allocUnsafeSlow(keptScratchBytes);
  return scratch;
}

/** An inner node has an even and an odd place for what follows a 0 and a 1: another inner node, or a leaf. */
const leaf = 0x1000;

function buildWalk(): Walk {
  const tree = buildTree();
  const steps = new Int32Array((deadState + 1) * 16).fill(deadState);
  for (let state = 0; state < deadState; state++) {
    for (let half = 0; half < 16; half++) steps[state * 16 + half] = takeStep(tree, state, half);
  }
  const mayEnd = new Uint8Array(deadState + 1);
  for (let state = 0, ones = 0; ones < 8; ones++) {
    mayEnd[state] = 1;
    state = tree[state * 2 + 1] ?? deadState;
  }
  return { steps, mayEnd };
}

function takeStep(tree: Uint16Array, from: number, half: number): number {
  let state = from;
  let emitted = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const next = tree[state * 2 + ((half >> bit) & 1)] ?? 0;
    if (next < leaf) {
      state = next;
    } else {
      const symbol = next - leaf;
      if (symbol === endOfString) return deadState;
      emitted = emits | (symbol << byteShift);
      state = 0;
    }
  }
  return emitted | state;
}

function buildTree(): Uint16Array {
  const lengths = Array.from(codeLengths, (digit) => Number.parseInt(digit, 36));
  const symbols = lengths.map((_, symbol) => symbol).sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0));
  // As many inner nodes as there are bytes: one fewer than leaves.
  const tree = new Uint16Array(deadState * 2);
  let nodes = 1;
  let code = 0;
  let length = 0;
  for (const symbol of symbols) {
    const longer = (lengths[symbol] ?? 0) - length;
    code = code * 2 ** longer;
    length += longer;
    let place = 0;
    for (let bit = length - 1; bit >= 0; bit--) {
      place = place * 2 + (Math.floor(code / 2 ** bit) & 1);
      if (bit > 0) place = tree[place] ||= nodes++;
    }
    tree[place] = leaf + symbol;
    code++;
  }
  return tree;
}
