import type * as foreignFunctions from 'node:ffi';

/**
 * Node's way to call the C library. Throws where there is none: every caller has another way then. Node warns that this
 * part of it may change, and an operator can do nothing about that.
 */
export function loadForeignFunctions(): typeof foreignFunctions {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    const functions: typeof foreignFunctions | undefined = process.getBuiltinModule('node:ffi');
    if (functions === undefined) throw new Error('this Node calls no foreign functions');
    return functions;
  } finally {
    process.emitWarning = emitWarning;
  }
}
