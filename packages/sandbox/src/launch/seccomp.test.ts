import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { opcodes } from './bpf.ts';
import { packSeccompProgram } from './seccomp.ts';
import { architectures, lastKnownCall, numberOf } from './system-calls.ts';
import type { Architecture, SystemCall } from './system-calls.ts';

const audit = { x64: 0xc000_003e, arm64: 0xc000_00b7, i386: 0x4000_0003, arm: 0x4000_0028 };
const allowed = 0x7fff_0000;
const killed = 0x8000_0000;
const [EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT] = [1, 38, 95, 97].map((errno) => 0x5_0000 | errno);

interface Call {
  readonly audit: number;
  readonly number: number;
  readonly args: readonly bigint[];
}

/** What the kernel would do: the few instructions that the filter is made of, with the kernel's checks. */
function interpret(program: Uint8Array, call: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.number, true);
  data.setUint32(4, call.audit, true);
  call.args.forEach((arg, index) => data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, arg), true));
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  let accumulator = 0;
  for (let at = 0; at * 8 < program.length; at++) {
    const [code, yes, no] = [view.getUint16(at * 8, true), view.getUint8(at * 8 + 2), view.getUint8(at * 8 + 3)];
    const operand = view.getUint32(at * 8 + 4, true);
    const jump = (isSo: boolean): void => void (at += isSo ? yes : no);
    switch (code) {
      case opcodes.loadWord:
        accumulator = data.getUint32(operand, true);
        break;
      case opcodes.and:
        accumulator = (accumulator & operand) >>> 0;
        break;
      case opcodes.jumpIfEqual:
        jump(accumulator === operand);
        break;
      case opcodes.jumpIfGreater:
        jump(accumulator > operand);
        break;
      case opcodes.jumpIfAnyBit:
        jump((accumulator & operand) !== 0);
        break;
      case opcodes.return:
        return operand;
      default:
        assert.fail(`unknown instruction ${code}`);
    }
  }
  return assert.fail('the program ran past its end');
}

function judge(architecture: Architecture, call: SystemCall | number, ...args: readonly (number | bigint)[]): number {
  const number = typeof call === 'number' ? call : numberOf(call, architecture);
  assert.ok(number !== undefined, `${call} exists on ${architecture}`);
  return interpret(packSeccompProgram(architecture), { audit: audit[architecture], number, args: args.map(BigInt) });
}

for (const architecture of architectures) {
  test(`on ${architecture}, ordinary calls pass whatever their arguments`, () => {
    const ordinary = architecture === 'x64' ? [0, 1, 3, 9, 59, 61, 202, 231] : [63, 64, 57, 222, 221, 260, 98, 94];
    fc.assert(
      fc.property(
        fc.constantFrom(...ordinary),
        fc.array(fc.bigInt(0n, 2n ** 64n - 1n), { minLength: 6, maxLength: 6 }),
        (number, args) => assert.equal(judge(architecture, number, ...args), allowed),
      ),
    );
  });

  test(`on ${architecture}, calls of another architecture kill the process`, () => {
    const program = packSeccompProgram(architecture);
    for (const [name, value] of Object.entries(audit)) {
      const action = interpret(program, { audit: value, number: 0, args: [] });
      assert.equal(action, name === architecture ? allowed : killed, name);
    }
  });

  test(`on ${architecture}, calls that are not known do not exist`, () => {
    for (const number of [lastKnownCall + 1, 500, 0x4000_0000, 0x4000_003b, 0xffff_ffff]) {
      assert.equal(judge(architecture, number), ENOSYS, String(number));
    }
    assert.equal(judge(architecture, lastKnownCall), allowed);
    for (const call of ['clone3', 'openat2', 'io_uring_setup'] as const)
      assert.equal(judge(architecture, call), ENOSYS);
  });

  test(`on ${architecture}, forbidden calls fail`, () => {
    for (const call of [
      'ptrace',
      'bpf',
      'mount',
      'setns',
      'unshare',
      'keyctl',
      'open_by_handle_at',
      'reboot',
    ] as const) {
      assert.equal(judge(architecture, call), EPERM, call);
    }
  });

  test(`on ${architecture}, clone makes threads and processes, and no namespaces`, () => {
    const [ofThread, ofProcess] = [0x3d_0f00, 0x120_0011];
    assert.equal(judge(architecture, 'clone', ofThread), allowed);
    assert.equal(judge(architecture, 'clone', ofProcess), allowed);
    for (const flag of [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000]) {
      assert.equal(judge(architecture, 'clone', ofProcess | flag), EPERM);
    }
  });

  test(`on ${architecture}, a mode with the bits of another identity fails only where the kernel would use it`, () => {
    const [reading, creating, temporary] = [0, 0o101, 0o20200002];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0o7777 }), fc.constantFrom(reading, creating, temporary), (mode, flags) => {
        const hasBits = (mode & 0o6000) !== 0;
        assert.equal(judge(architecture, 'fchmod', 3, mode), hasBits ? EPERM : allowed);
        assert.equal(judge(architecture, 'fchmodat', -100, 0, mode), hasBits ? EPERM : allowed);
        assert.equal(judge(architecture, 'fchmodat2', -100, 0, mode), hasBits ? EPERM : allowed);
        assert.equal(judge(architecture, 'mkdirat', -100, 0, mode), hasBits ? EPERM : allowed);
        assert.equal(
          judge(architecture, 'openat', -100, 0, flags, mode),
          hasBits && flags !== reading ? EPERM : allowed,
        );
        assert.equal(judge(architecture, 'mknodat', -100, 0, 0o100000 | mode), hasBits ? EPERM : allowed);
      }),
    );
    for (const device of [0o020000, 0o060000]) assert.equal(judge(architecture, 'mknodat', -100, 0, device), EPERM);
    assert.equal(judge(architecture, 'mknodat', -100, 0, 0o010644), allowed);
  });

  test(`on ${architecture}, sockets are of the internet and plain, and pairs are streams`, () => {
    const families = fc.integer({ min: 0, max: 50 });
    const types = fc
      .tuple(fc.integer({ min: 0, max: 15 }), fc.constantFrom(0, 0o4000, 0o2000000))
      .map(([a, b]) => a | b);
    fc.assert(
      fc.property(families, types, fc.constantFrom(0, 1, 6, 17, 132, 262), (family, type, protocol) => {
        const kind = type & 0xf;
        const isPlain = (kind === 1 || kind === 2) && [0, 6, 17].includes(protocol);
        const expected = family !== 2 && family !== 10 ? EAFNOSUPPORT : isPlain ? allowed : EPERM;
        assert.equal(judge(architecture, 'socket', family, type, protocol), expected);
        const ofPair = family !== 1 ? EAFNOSUPPORT : kind === 1 ? allowed : EPERM;
        assert.equal(judge(architecture, 'socketpair', family, type, protocol), ofPair);
      }),
    );
  });

  test(`on ${architecture}, a rule can open unix sockets of the three kinds, and nothing else with them`, () => {
    const program = packSeccompProgram(architecture, { unixSockets: true });
    const decide = (call: SystemCall, ...args: number[]) =>
      interpret(program, {
        audit: audit[architecture],
        number: numberOf(call, architecture) ?? -1,
        args: args.map(BigInt),
      });
    for (const call of ['socket', 'socketpair'] as const) {
      for (const type of [1, 2, 5]) assert.equal(decide(call, 1, type | 0o2000000, 0), allowed);
      assert.equal(decide(call, 1, 3, 0), EPERM);
      assert.equal(decide(call, 16, 3, 0), EAFNOSUPPORT);
      assert.equal(decide(call, 17, 3, 0), EAFNOSUPPORT);
    }
    assert.equal(decide('socket', 2, 1, 6), allowed);
    assert.equal(decide('socket', 2, 3, 1), EPERM);
    assert.equal(decide('ptrace'), EPERM);
  });

  test(`on ${architecture}, no space is reserved that is not written`, () => {
    assert.equal(judge(architecture, 'fallocate', 3, 0, 0, 4096), EOPNOTSUPP);
    for (const request of [0x4030_5828, 0x4030_5829, 0x4030_582a, 0x4030_582b, 0x4030_5839]) {
      assert.equal(judge(architecture, 'ioctl', 3, request), EOPNOTSUPP);
    }
  });

  test(`on ${architecture}, the upper half of an argument hides nothing`, () => {
    const high = 0xffff_ffff_0000_0000n;
    assert.equal(judge(architecture, 'ioctl', 0, high | 0x5412n), EPERM);
    assert.equal(judge(architecture, 'socket', high | 1n, 1, 0), EAFNOSUPPORT);
    assert.equal(judge(architecture, 'clone', high | 0x1000_0000n), EPERM);
    assert.equal(judge(architecture, 'ioctl', 0, 0x5401), allowed);
  });

  test(`on ${architecture}, a personality can be asked for and not changed`, () => {
    assert.equal(judge(architecture, 'personality', 0), allowed);
    assert.equal(judge(architecture, 'personality', 0xffff_ffff), allowed);
    assert.equal(judge(architecture, 'personality', 0x004_0000), EPERM);
  });

  test(`on ${architecture}, every path through the program ends inside it`, () => {
    const program = packSeccompProgram(architecture);
    const count = program.length / 8;
    assert.ok(Number.isInteger(count) && count < 4096);
    const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
    for (let at = 0; at < count; at++) {
      if (view.getUint16(at * 8, true) === opcodes.return) continue;
      const furthest = at + 1 + Math.max(view.getUint8(at * 8 + 2), view.getUint8(at * 8 + 3));
      assert.ok(furthest < count, `instruction ${at} jumps to ${furthest}`);
    }
  });
}

test('calls have the numbers of the kernel’s own tables', () => {
  const known: readonly (readonly [SystemCall, number | undefined, number | undefined])[] = [
    ['open', 2, undefined],
    ['openat', 257, 56],
    ['clone', 56, 220],
    ['socket', 41, 198],
    ['socketpair', 53, 199],
    ['ptrace', 101, 117],
    ['unshare', 272, 97],
    ['setns', 308, 268],
    ['bpf', 321, 280],
    ['keyctl', 250, 219],
    ['open_by_handle_at', 304, 265],
    ['fchmodat2', 452, 452],
  ];
  for (const [call, x64, arm64] of known) {
    assert.deepEqual([numberOf(call, 'x64'), numberOf(call, 'arm64')], [x64, arm64], call);
  }
});
