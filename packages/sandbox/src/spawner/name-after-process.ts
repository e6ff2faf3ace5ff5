import { readlinkSync } from 'node:fs';
import { readProcess } from '../limits/read-process.ts';

/** A name for things of this process alone, which differs from those that a dead process left. Linux only. */
export function nameAfterProcess(): string {
  return `sallyport-${pidNamespace()}-${process.pid}-${readProcess(process.pid)?.startTicks}`;
}

/** Whether a name was made by `nameAfterProcess` in a process that has ended. */
export function isOfDeadProcess(name: string): boolean {
  const [, namespace, pid, startTicks] = /^sallyport-(\d+)-(\d+)-(\d+)$/.exec(name) ?? [];
  return namespace === pidNamespace() && readProcess(Number(pid))?.startTicks !== startTicks;
}

/** Part of the name: the pid of a process in another container must not look like a dead one here. */
function pidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
}
