import { closeSync, readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

/**
 * Closes descriptors that were handed down to this process and would be handed on to its children. Node marks the
 * first few so that they are not; those beyond a gap in the numbering it does not find. Call it first thing.
 */
export function closeInherited(): void {
  for (const fd of listDescriptors()) {
    if (fd > 2 && isHandedOn(fd)) closeSync(fd);
  }
}

function listDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

function isHandedOn(fd: number): boolean {
  try {
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // It was the one with which the list was read.
    return false;
  }
}
