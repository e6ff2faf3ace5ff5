/** One instruction of the classic Berkeley packet filter, which is what seccomp runs. */
export interface Instruction {
  readonly code: number;
  /** How many instructions are skipped when a comparison holds, and when it does not. */
  readonly jumpIfTrue: number;
  readonly jumpIfFalse: number;
  readonly operand: number;
}

export const opcodes = {
  loadWord: 0x20,
  jumpIfEqual: 0x15,
  jumpIfGreater: 0x25,
  jumpIfAnyBit: 0x45,
  and: 0x54,
  return: 0x06,
} as const;

/** Where the kernel's `struct seccomp_data` keeps what a filter looks at. */
const offsets = { systemCall: 0, architecture: 4, firstArgument: 16 } as const;

const actions = { killProcess: 0x8000_0000, fail: 0x0005_0000, allow: 0x7fff_0000 } as const;

export const loadSystemCall = load(offsets.systemCall);
export const loadArchitecture = load(offsets.architecture);
export const killProcess = plain(opcodes.return, actions.killProcess);
export const allow = plain(opcodes.return, actions.allow);

/**
 * The lower half of an argument. The upper is ignored, as the kernel itself does with every argument that is compared
 * here: they are declared as `int`, `unsigned int` or a shorter type. Both architectures are little-endian.
 */
export function loadArgument(index: number): Instruction {
  return load(offsets.firstArgument + 8 * index);
}

export function keepBits(mask: number): Instruction {
  return plain(opcodes.and, mask);
}

export function failWith(errno: number): Instruction {
  return plain(opcodes.return, actions.fail | errno);
}

/** Runs the block when what is loaded equals the value, otherwise goes on behind it. */
export function ifEqual(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [jump(opcodes.jumpIfEqual, value, 0, block.length), ...block];
}

export function unlessEqual(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [jump(opcodes.jumpIfEqual, value, block.length, 0), ...block];
}

export function ifGreater(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [jump(opcodes.jumpIfGreater, value, 0, block.length), ...block];
}

export function ifAnyBit(mask: number, block: readonly Instruction[]): readonly Instruction[] {
  return [jump(opcodes.jumpIfAnyBit, mask, 0, block.length), ...block];
}

/** The bytes that the kernel takes: eight for each instruction. */
export function packProgram(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(instructions.length * 8);
  const view = new DataView(bytes.buffer);
  instructions.forEach(({ code, jumpIfTrue, jumpIfFalse, operand }, index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, jumpIfTrue);
    view.setUint8(index * 8 + 3, jumpIfFalse);
    view.setUint32(index * 8 + 4, operand, true);
  });
  return bytes;
}

function load(offset: number): Instruction {
  return plain(opcodes.loadWord, offset);
}

function plain(code: number, operand: number): Instruction {
  return { code, jumpIfTrue: 0, jumpIfFalse: 0, operand };
}

function jump(code: number, operand: number, jumpIfTrue: number, jumpIfFalse: number): Instruction {
  if (Math.max(jumpIfTrue, jumpIfFalse) > 255) throw new RangeError('a block of a filter has at most 255 instructions');
  return { code, jumpIfTrue, jumpIfFalse, operand };
}
