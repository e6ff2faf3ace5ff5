import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Config } from './config.ts';
import type { AuditVerdict } from '../doors/connect/operator-service.ts';

const run = promisify(execFile);
const mostOutputBytes = 16 * 1024 * 1024;

interface Report {
  readonly intact: boolean;
  readonly records: number;
  readonly signed_records: number;
  readonly findings: readonly { readonly message: string }[];
  readonly state_findings: readonly string[];
}

/**
 * Judges the log and the state beside it in a process of its own, from its files alone: it does not take the daemon's word for anything, and
 * does not hold up its calls.
 */
export function auditVerifier({
  home,
  program,
}: Pick<Config, 'home' | 'program'>): (signal: AbortSignal) => Promise<AuditVerdict> {
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
    const report = JSON.parse(stdout) as Partial<Report>;
    return {
      intact: report.intact === true,
      records: BigInt(report.records ?? 0),
      checkpointSize: BigInt(report.signed_records ?? 0),
      problems: [
        ...(report.findings ?? [{ message: 'The log could not be read.' }]).map(({ message }) => message),
        ...(report.state_findings ?? []),
      ],
    };
  };
}
