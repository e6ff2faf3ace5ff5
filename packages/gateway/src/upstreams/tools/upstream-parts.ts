import type { JsonObject } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { AcceptedDefinitions } from '../../programs/accepted-definitions.ts';
import type { InstalledTools } from '../../programs/installed-tools.ts';
import type { PackageStore } from '../package-store.ts';
import type { ServerLogs } from '../server-logs.ts';
import type { Upstream } from '../upstream.ts';
import type { Upstreams } from '../upstreams.ts';
import type { UpstreamFiles } from './upstream-files.ts';
import * as schema from '../../registry/schemas/schema.ts';

export interface UpstreamToolParts {
  readonly upstreams: Upstreams;
  readonly installed: InstalledTools;
  readonly accepted: Pick<AcceptedDefinitions, 'read'>;
  readonly files: UpstreamFiles;
  readonly packages: PackageStore;
  readonly logs: ServerLogs;
  /** Updates the servers from the files, and the registry from the servers. */
  readonly reload: () => Promise<void>;
}

export interface Named {
  readonly name: string;
}

/** The one argument of most of these tools. */
export const named = {
  properties: {
    name: schema.string('Name of the upstream.', { minLength: 1, maxLength: 32 }) satisfies JsonObject,
  },
  required: ['name'],
};

export function findUpstream({ upstreams }: UpstreamToolParts, name: string): Upstream {
  const upstream = upstreams.find(name);
  if (upstream !== undefined) return upstream;
  throw new ToolFailure('NOT_FOUND', `There is no upstream ${name}.`, {
    forOperators: '`sallyport upstream list` shows them.',
  });
}
