import { readFileSync } from 'node:fs';
import { defaultLimits } from '../../doors/transport/transport-limits.ts';

/** How many files and sockets this process may have open. Undefined: there is no limit, or the system does not tell. */
export function readDescriptorLimit(): number | undefined {
  const limit = process.platform === 'linux' ? readLinuxLimit() : readReportedLimit();
  return Number.isSafeInteger(limit) ? limit : undefined;
}

/**
 * How many connections the doors may hold. Half of what the system grants stays for the daemon's own work: the log, its
 * checkpoints, and the files that calls open. Without one of those it would have to seal itself.
 */
export function connectionsWithin(descriptorLimit: number | undefined): number {
  const { maxConnections } = defaultLimits;
  return descriptorLimit === undefined ? maxConnections : Math.min(maxConnections, Math.floor(descriptorLimit / 2));
}

function readLinuxLimit(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  } catch {
    return readReportedLimit();
  }
}

/** Slower than reading a file, and the only way that Node has on other systems. */
function readReportedLimit(): number {
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } };
  };
  return Number(userLimits?.open_files?.soft);
}
