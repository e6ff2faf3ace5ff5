import type { DownloadStream, Transfers, UploadStream } from '../../content/transfers.ts';
import type { OpenedTools } from '../../programs/tools/open-installed-tools.ts';
import type { Registry } from '../../registry/registry.ts';
import type { EndSession } from '../../sessions/tools/sessions.ts';
import type { OpenedUpstreams } from '../../upstreams/tools/open-upstreams.ts';
import type { InferenceParts } from '../../catalogue/inference/inference-call.ts';
import type { Ground } from './open-ground.ts';
import type { OpenedAnomalies } from './open-anomalies.ts';
import type { OpenedApprovals } from './open-approvals.ts';
import type { OpenedErasures } from './open-erasures.ts';
import type { Executor } from './open-executor.ts';
import type { Leavings } from './open-leavings.ts';
import type { OpenedModes } from './open-modes.ts';
import type { OpenedOrganisation } from './open-organisation.ts';

/** The parts of the daemon, each opened: what the list of tools, the gates and the doors are put together from. */
export interface DaemonParts extends Ground {
  readonly registry: Registry;
  readonly executor: Executor;
  readonly leavings: Leavings;
  readonly toolsFolder: OpenedTools;
  readonly upstreams: OpenedUpstreams;
  readonly modes: OpenedModes;
  readonly organisation: OpenedOrganisation;
  readonly approvals: OpenedApprovals;
  readonly anomalies: OpenedAnomalies;
  readonly erasures: OpenedErasures;
  /** Services elsewhere, for the tools that use them. */
  readonly remote: InferenceParts;
  readonly uploads: Transfers<UploadStream>;
  readonly downloads: Transfers<DownloadStream>;
  readonly endSession: EndSession;
  /** Lets go of programs that were started before anybody called them, under what held then. */
  readonly dropWaiting: () => void;
  /** Where agents reach the daemon, once the doors are open. */
  readonly address: () => string;
  /** What an operator should look at. */
  readonly warnings: () => readonly string[];
}
