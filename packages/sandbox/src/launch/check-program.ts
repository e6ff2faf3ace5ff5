import { posix } from 'node:path';
import { ProgramNotStarted } from '../program.ts';
import type { Program } from '../program.ts';

/** Throws ProgramNotStarted for values that the kernel would cut or the sandbox would misread. */
export function checkProgram({ argv, environment, workingDirectory }: Program): void {
  const [file] = argv;
  if (!file.startsWith('/')) throw malformed(`The program ${JSON.stringify(file)} is not named by an absolute path`);
  if (posix.resolve(workingDirectory) !== workingDirectory) {
    throw malformed(`The working directory ${JSON.stringify(workingDirectory)} is not an absolute, canonical path`);
  }
  if ([...argv, workingDirectory, ...Object.entries(environment).flat()].some(isUnsafe)) {
    throw malformed('An argument or a variable of the program holds a NUL or half of a surrogate pair');
  }
  const misnamed = Object.keys(environment).find((name) => name === '' || name.includes('='));
  if (misnamed !== undefined) throw malformed(`${JSON.stringify(misnamed)} is no name of a variable`);
}

function isUnsafe(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

function malformed(message: string): ProgramNotStarted {
  return new ProgramNotStarted('EXECUTION_ERROR', `${message}.`);
}
