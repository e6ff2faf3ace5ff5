import { join } from 'node:path';
import type { AnyTool } from '../../call/tool.ts';
import { AcceptedDefinitions } from '../../programs/accepted-definitions.ts';
import { FolderWatch } from '../../programs/folder-watch.ts';
import { InstalledTools } from '../../programs/installed-tools.ts';
import type { InstalledToolsOptions } from '../../programs/installed-tools.ts';
import type { Registry } from '../../registry/registry.ts';
import { explainProtected } from '../explain-start.ts';
import { PackageStore } from '../package-store.ts';
import { ServerLogs } from '../server-logs.ts';
import type { StreamRedaction } from '../server-logs.ts';
import type { UpstreamParts } from '../upstream.ts';
import { Upstreams } from '../upstreams.ts';
import { UpstreamFiles } from './upstream-files.ts';
import { upstreamTools } from './upstream-tools.ts';

export interface OpenUpstreamsOptions
  extends
    Pick<InstalledToolsOptions, 'pins' | 'acceptsNew' | 'recordEvent'>,
    Omit<UpstreamParts, 'onTools' | 'packages' | 'logs'> {
  readonly registry: Registry;
  /** The folder of the YAML files. */
  readonly folder: string;
  /** The folder of their packages; the user that programs run as must be able to reach it. */
  readonly packagesFolder: string;
  /** Removes secrets from what a server writes to standard error. */
  readonly openRedaction: () => StreamRedaction;
  /** Reading the folder failed. It will be read again. */
  readonly onError: (error: unknown) => void;
}

export interface OpenedUpstreams {
  readonly upstreams: Upstreams;
  readonly installed: InstalledTools;
  /** For operators. To be registered before `start`. */
  readonly administration: readonly AnyTool[];
  /**
   * Begins to connect, and watches the folder. Resolves when the folder was read; waits for no server. Call it when all
   * built-in tools are registered.
   */
  readonly start: () => Promise<void>;
  /** Resolves when no server is left. */
  readonly close: () => Promise<void>;
}

/** Opens the folder of upstream servers, with their accepted tools and the tools of operators for them. */
export function openUpstreams(options: OpenUpstreamsOptions): OpenedUpstreams {
  const { registry, folder, packagesFolder, onError } = options;
  const isReserved = (name: string): boolean =>
    registry.all.some(({ definition }) => definition.origin !== 'upstream' && belongsTo(definition.name, name));
  const files = new UpstreamFiles(folder, isReserved, (endpoint) => explainProtected(endpoint, options));
  const accepted = new AcceptedDefinitions(join(folder, 'accepted'));
  const refresh = (): void => void installed.refresh().catch(onError);
  const packages = new PackageStore(packagesFolder);
  const logs = new ServerLogs(join(folder, 'logs'), options.openRedaction);
  const upstreams = new Upstreams(files.read, { ...options, packages, logs, onTools: refresh });
  const installed = new InstalledTools({ ...options, accepted, sources: [upstreams], registrySource: 'upstreams' });
  const reload = async (): Promise<void> => {
    upstreams.reload();
    await installed.refresh();
  };
  let watch: FolderWatch | undefined;
  let isClosed = false;
  return {
    upstreams,
    installed,
    administration: upstreamTools({ upstreams, installed, accepted, files, packages, logs, reload }),
    start: async () => {
      if (isClosed) return;
      const looking = reload().catch(onError);
      watch = new FolderWatch({ folders: [folder], look: () => reload().then(() => false), onError });
      await looking;
    },
    close: async () => {
      isClosed = true;
      watch?.close();
      await Promise.all([installed.close(), upstreams.close()]);
    },
  };
}

/** Whether models could confuse a tool of that upstream with this one: to them, dots are underscores. */
function belongsTo(tool: string, upstream: string): boolean {
  return tool === upstream || tool.startsWith(`${upstream}.`) || tool.startsWith(`${upstream}_`);
}
