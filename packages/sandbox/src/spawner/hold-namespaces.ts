import { close, openSync } from 'node:fs';

/** What a sandbox has of its own and the kernel takes down with its last process, while that is still there. */
const namespaces = ['mnt', 'net', 'ipc'];

/**
 * Holds on to the namespaces of a sandbox through one of its processes, which must be waiting. Otherwise its last process
 * would wait for every core before it ends, to take down the mounts: half a millisecond in which somebody waits for
 * it. Nobody can enter them without a process of the sandbox but this process. Returns how to let go of them, which takes
 * the time of another thread.
 */
export function holdNamespaces(pid: number): () => void {
  const held = namespaces.flatMap((name) => {
    try {
      return [openSync(`/proc/${pid}/ns/${name}`, 'r')];
    } catch {
      // This process may not look at it, or it is not there. Then its end takes a moment longer.
      return [];
    }
  });
  return () => {
    for (const fd of held.splice(0)) close(fd, () => undefined);
  };
}
