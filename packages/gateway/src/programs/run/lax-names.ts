import { closeSync, constants, fstatSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Linux only: opens nothing but the name. Node does not know it. */
const pathOnly = 0o10000000;

/**
 * Whether a program could reach what is at this path, below the folder, by writing its name in other letters, although
 * something is laid over the name. So it is where a file system ignores case and Linux does not know: over FUSE, or in
 * folders of Windows. Where Linux itself ignores case, or the sandbox goes by files, nothing escapes.
 */
export function hasOtherSpelling(path: string, root: string): boolean {
  if (process.platform !== 'linux') return false;
  for (let at = path; at.length > root.length; at = dirname(at)) if (isSpeltTwice(at)) return true;
  return false;
}

function isSpeltTwice(path: string): boolean {
  const name = basename(path);
  const other = swapCase(name);
  if (other === name) return false;
  const folder = dirname(path);
  const [found, given] = [look(`${folder}/${other}`), look(path)];
  // A second name that is listed, such as that of a hard link, is found by itself.
  return (
    found !== undefined &&
    given !== undefined &&
    found.identity === given.identity &&
    found.name !== given.name &&
    !readdirSync(folder).includes(other)
  );
}

function swapCase(name: string): string {
  const upper = name.toUpperCase();
  return upper === name ? name.toLowerCase() : upper;
}

/** Undefined: there is no such thing. `name`: as Linux knows it, the same for all spellings that it takes for one. */
function look(path: string): { readonly identity: string; readonly name: string } | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, pathOnly | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    const { dev, ino } = fstatSync(descriptor);
    return { identity: `${dev}:${ino}`, name: readlinkSync(`/proc/self/fd/${descriptor}`) };
  } finally {
    closeSync(descriptor);
  }
}
