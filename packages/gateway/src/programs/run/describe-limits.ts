import { defaultProgramLimits } from '@sallyport/sandbox';
import type { ProgramLimits } from '@sallyport/sandbox';

const megabyte = 1024 * 1024;

/** What a program may use at most, in one line for the person who decides. */
export function describeLimits(given: Partial<ProgramLimits>, timeoutMs: number): string {
  const { cpuMs, memoryBytes, processes, fileBytes, diskBytes, outputBytes } = { ...defaultProgramLimits, ...given };
  return [
    `${timeoutMs / 1000} s`,
    `${cpuMs / 1000} s of CPU`,
    `${Math.round(memoryBytes / megabyte)} MB of memory`,
    `${processes} processes`,
    `files of ${Math.round(fileBytes / megabyte)} MB`,
    `${Math.round(diskBytes / megabyte)} MB on disk`,
    `${Math.round(outputBytes / megabyte)} MB of output`,
  ].join(', ');
}
