import { readlinkSync } from 'node:fs';
import { readProcess } from '../limits/read-process.ts';

/** A name for what belongs to this process alone and can be told apart from what a dead process left. Linux only. */
export function nameAfterProcess(): string {
  return `sallyport-${pidNamespace()}-${process.pid}-${readProcess(process.pid)?.startTicks}`;
}

/** Whether a name was made by `nameAfterProcess` in a process that is no more. */
export function isOfDeadProcess(name: string): boolean {
  const [, namespace, pid, startTicks] = /^sallyport-(\d+)-(\d+)-(\d+)$/.exec(name) ?? [];
  return namespace === pidNamespace() && readProcess(Number(pid))?.startTicks !== startTicks;
}

/** Part of the name: the pid of a process in another container must not be taken for a dead one here. */
function pidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
}
