import { setTimeout as setTimeoutAfter } from 'node:timers/promises';
import { AttemptCounter } from '../audit/attempt-counter.ts';
import { Turnstile } from '../call/turnstile.ts';
import { clientTools } from '../clients/client-tools.ts';
import { LoginCodes } from '../console/login-codes.ts';
import { Transfers } from '../content/transfers.ts';
import type { DownloadStream, UploadStream } from '../content/transfers.ts';
import { Registry } from '../registry/registry.ts';
import type { EndSession } from '../sessions/tools/sessions.ts';
import type { Config } from './config.ts';
import { listWarnings } from './health/list-warnings.ts';
import { metricsReader } from './health/read-metrics.ts';
import { statusReader } from './health/read-status.ts';
import { describeMachineTrouble } from './machine/describe-abilities.ts';
import type { DaemonParts } from './parts/daemon-parts.ts';
import { listTools } from './parts/list-tools.ts';
import { openAnomalies } from './parts/open-anomalies.ts';
import { openApprovals } from './parts/open-approvals.ts';
import { openCalls } from './parts/open-calls.ts';
import { openErasures } from './parts/open-erasures.ts';
import { openExecutor } from './parts/open-executor.ts';
import { openGround } from './parts/open-ground.ts';
import { openLeavings } from './parts/open-leavings.ts';
import { openModes } from './parts/open-modes.ts';
import { openOrganisation } from './parts/open-organisation.ts';
import { openProviders } from './parts/open-providers.ts';
import { openTools } from './parts/open-tools.ts';
import { openUpstreams } from './parts/open-upstreams.ts';
import { serveDoors } from './parts/serve-doors.ts';
import { startChores } from './parts/start-chores.ts';
import { StartingTools } from './parts/starting-tools.ts';
import { version } from './version.ts';

const graceMs = 10_000;
const finishMs = 1000;
const firstLookMs = 2000;

/** `reason`: why it is sealed, or was. */
export type WatchHealth = (listener: (health: 'sealed' | 'serving', reason: string) => void) => void;

/** A daemon that is serving. */
export interface Composed {
  readonly address: string;
  readonly readStatus: ReturnType<typeof statusReader>;
  /** What of programs does not work here. It waits for the spawner. */
  readonly readMachine: () => Promise<readonly string[]>;
  readonly watchHealth: WatchHealth;
  readonly callsInFlight: () => number;
  /** Ends the calls that run, answers them, and closes everything. `by`: who wants it, for the record. */
  readonly close: (by: string) => Promise<void>;
}

/** Picks the implementations and puts them together. The only place that does. `stop` is called on an operator's wish. */
export async function compose(config: Config, stop: (by: string) => void): Promise<Composed> {
  let stoppedBy = 'sallyport';
  let address = '';
  // What was opened is closed in reverse order: when the daemon stops, and when it does not even start.
  await using opened = new AsyncDisposableStack();
  const closeLater = <Part extends { readonly close: () => unknown }>(part: Part): Part => {
    opened.defer(async () => void (await part.close()));
    return part;
  };

  const ground = await openGround(config, opened, () => stoppedBy);
  const { store, log, workspace, currentRules } = ground;
  const registry = new Registry();
  const executor = openExecutor(log);
  const { programs } = executor;
  opened.defer(() => programs.close());
  const leavings = openLeavings(ground, executor);
  const toolsFolder = closeLater(
    await openTools({
      ...{ ...ground, registry, programs, folder: config.toolsFolder },
      submitStep: (step) => calls.submitStep(step),
    }),
  );
  const upstreams = closeLater(openUpstreams({ ...ground, registry, programs, leavings }));
  // What waits for a call was started under what held before.
  const dropWaiting = (): void => void programs.dropWarm();
  opened.defer(registry.onChange(dropWaiting));
  const modes = closeLater(
    openModes({ ...ground, isTroubled: (): boolean => anomalies.holdsMode(), onChanged: dropWaiting }),
  );
  const { running } = modes;
  const endSession: EndSession = async (id, by) => {
    const isEnded = await store.endSession(id);
    running.endSession(id, by);
    await approvals.onSessionEnded(id);
    return isEnded;
  };
  const organisation = openOrganisation({
    ...{ ...ground, endSession },
    notifySenior: (abuse, senior) => approvals.tellAbuse(abuse, senior),
  });
  const { offices } = organisation;
  const approvals = closeLater(
    openApprovals({
      ...{ ...ground, offices },
      rehearse: (...planned) => calls.rehearse(...planned),
      address: () => address,
    }),
  );
  const { authority } = modes;
  const anomalies = closeLater(
    openAnomalies({ ...ground, registry, authority, offices, notify: approvals.tellAnomaly }),
  );
  const erasures = closeLater(
    openErasures({
      ...{ ...ground, registry, events: ground.telemetry.events },
      isDirector: (person) => offices.isDirector(person),
    }),
  );
  const parts: DaemonParts = {
    ...{ ...ground, registry, executor, leavings, toolsFolder, upstreams, dropWaiting, endSession },
    ...{ modes, organisation, approvals, anomalies, erasures },
    remote: openProviders({ ...ground, isTraced: ground.telemetry.isTraced }),
    uploads: new Transfers<UploadStream>(),
    downloads: new Transfers<DownloadStream>(),
    address: () => address,
    warnings: () => listWarnings(parts),
  };

  const codes = new LoginCodes();
  const tools = listTools(parts, codes);
  registry.register(...tools);
  registry.registerForClients(...clientTools());
  const turnstiles = { calls: new Turnstile(modes.turnLimits), transfers: new Turnstile(modes.turnLimits) };
  const measured = closeLater(metricsReader({ ...ground, ...turnstiles }));
  const attempts = new AttemptCounter(store);
  opened.defer(() => attempts.flush(Number.MAX_SAFE_INTEGER));
  const starting = new StartingTools({ pins: store, findUpstream: (name) => upstreams.upstreams.find(name) });
  const calls = openCalls(parts, { turnstiles, attempts, starting });

  const readStatus = statusReader(parts, turnstiles.calls);
  const { submit } = calls;
  const { doors, mcp } = await serveDoors(parts, {
    ...{ submit, tools, codes, attempts, readStatus, stop },
    readMetrics: measured.read,
  });
  opened.defer(() => doors.close(graceMs));
  closeLater(mcp);
  // Before the doors close, so that every caller gets an answer.
  opened.defer(() => running.stop(stoppedBy, { finishMs, endMs: graceMs }));
  address = doors.address ?? '';

  closeLater(startChores(parts, attempts));
  await leavings.finish();
  await ground.recordStart();
  await approvals.start();
  await anomalies.start();
  modes.start();
  erasures.wake();
  // Ready means that accepted tools are there. Looking at many new programs takes longer, and nobody waits for that.
  const looked = Promise.all([toolsFolder.start(), upstreams.start()]).then(() => starting.looked());
  await Promise.race([looked, setTimeoutAfter(firstLookMs, undefined, { ref: false })]);
  log.info('started', { version, address, workspace, rules: currentRules().hash, cut_off_calls: ground.cutOffCalls });

  const closing = opened.move();
  return {
    ...{ address, readStatus, callsInFlight: () => turnstiles.calls.running },
    readMachine: async () => describeMachineTrouble(await programs.abilities, workspace),
    watchHealth: (listener) => {
      store.onSealed((reason) => listener('sealed', reason));
      store.onHealed((reason) => listener('serving', reason));
    },
    close: (by) => {
      stoppedBy = by;
      return closing.disposeAsync();
    },
  };
}
