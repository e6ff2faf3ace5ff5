import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fromJson } from '@bufbuild/protobuf';
import type { JsonValue } from '@bufbuild/protobuf';
import { VerifyAuditResponseSchema } from '@sallyport/contract';
import type { VerifyAuditResponse } from '@sallyport/contract';
import type { Config } from '../config.ts';

const run = promisify(execFile);
const mostOutputBytes = 16 * 1024 * 1024;

/**
 * Judges the log and the state beside it in a process of its own, from its files alone: it does not take the daemon's word for anything, and
 * does not hold up its calls.
 */
export function auditVerifier({
  home,
  program,
}: Pick<Config, 'home' | 'program'>): (signal: AbortSignal) => Promise<VerifyAuditResponse> {
  return async (signal) => {
    const environment = { PATH: '/usr/bin:/bin', SALLYPORT_HOME: home.folder };
    const options = { env: environment, signal, maxBuffer: mostOutputBytes };
    const args = [program, 'audit', 'verify', '--json'];
    // A log that is not intact makes it end with an error, and its report is on standard output all the same.
    const { stdout } = await run(process.execPath, args, options).catch((error: unknown) => {
      const said = (error as { stdout?: unknown }).stdout;
      if (typeof said === 'string' && said !== '') return { stdout: said };
      throw error;
    });
    const verdict = fromJson(VerifyAuditResponseSchema, JSON.parse(stdout) as JsonValue, { ignoreUnknownFields: true });
    if (!verdict.intact && verdict.problems.length === 0) verdict.problems.push('The log could not be read.');
    return verdict;
  };
}
