import { extname, join } from 'node:path';

/** The program of a thread is beside this file, in the sources and in a build. */
export function threadFile(name: 'writer-thread' | 'verify-thread' | 'index-thread'): string {
  return join(import.meta.dirname, `${name}${extname(import.meta.filename)}`);
}
