import assert from 'node:assert/strict';
import { numberOf } from '../../packages/sandbox/src/launch/system-calls.ts';
import type { SystemCall } from '../../packages/sandbox/src/launch/system-calls.ts';
import type { Gate } from './gate.ts';

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';

/** A system call with Perl's arguments: numbers, or strings that the kernel gets the address of. */
export type TriedCall = readonly [call: SystemCall | number, ...args: readonly (number | string)[]];

/** Makes system calls inside and returns the names of their errors, `OK` for those that succeed. */
export async function tryCalls(
  gate: Gate,
  calls: readonly TriedCall[],
  options: { readonly prepare?: string } = {},
): Promise<readonly string[]> {
  const known = calls.filter(([call]) => toNumber(call) !== undefined);
  const lines = known.map(([call, ...args]) => {
    const list = [toNumber(call), ...args].join(', ');
    return `@a = (${list}); $! = 0; $r = syscall($a[0], @a[1 .. $#a]); print $r == -1 ? (grep { $!{$_} } qw(${errors})) [0] // $!+0 : 'OK', "\\n";`;
  });
  const script = ['use Errno;', options.prepare ?? '', ...lines].join('\n');
  const { stdout, stderr, how } = await gate.perl(script);
  assert.deepEqual(how, { kind: 'exited', code: 0 }, stderr);
  const results = stdout.trimEnd().split('\n');
  assert.equal(results.length, known.length, stderr);
  return results;
}

/** Asserts that every one of the calls ends with the same error. */
export async function assertAllFail(
  gate: Gate,
  error: string,
  calls: readonly TriedCall[],
  options: { readonly prepare?: string } = {},
): Promise<void> {
  const results = await tryCalls(gate, calls, options);
  assert.deepEqual(
    results,
    results.map(() => error),
    JSON.stringify(calls),
  );
}

const errors =
  'EPERM ENOSYS EACCES EAFNOSUPPORT EINVAL ENOENT EROFS EBUSY EXDEV ESRCH EBADF EFAULT ENETUNREACH ECONNREFUSED';

function toNumber(call: SystemCall | number): number | undefined {
  return typeof call === 'number' ? call : numberOf(call, architecture);
}
