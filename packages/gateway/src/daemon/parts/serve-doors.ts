import { CallService, ClientService, LeaseService, SessionService } from '@sallyport/contract';
import { isWithin } from '@sallyport/sandbox';
import { anomalyService } from '../../anomalies/service.ts';
import { planService } from '../../approvals/plan-service.ts';
import { approvalService } from '../../approvals/service.ts';
import type { AttemptCounter } from '../../audit/attempt-counter.ts';
import type { Submit } from '../../call/submission.ts';
import type { AnyTool } from '../../call/tool.ts';
import { ClientRuns } from '../../clients/client-runs.ts';
import type { LoginCodes } from '../../console/login-codes.ts';
import { contentService } from '../../content/service.ts';
import { bindTools } from '../../doors/bind-tools.ts';
import { operatorService } from '../../doors/connect/operator-service.ts';
import { toolService } from '../../doors/connect/serve.ts';
import { readConsole } from '../../doors/console/console-files.ts';
import { loginRoutes } from '../../doors/console/login-routes.ts';
import { pageRoutes } from '../../doors/console/page-routes.ts';
import { hookRoutes } from '../../doors/hooks/serve.ts';
import { openCallers } from '../../doors/http/json-requests.ts';
import { callRoutes } from '../../doors/http/serve.ts';
import { openMcp } from '../../doors/mcp/serve.ts';
import type { Mcp } from '../../doors/mcp/serve.ts';
import { messageRoutes } from '../../doors/messages/serve.ts';
import { metricsRoutes } from '../../doors/metrics/serve.ts';
import { openDoors } from '../../doors/transport/open-doors.ts';
import type { Doors } from '../../doors/transport/open-doors.ts';
import type { HttpRoute } from '../../doors/transport/http-route.ts';
import type { ServiceBinding } from '../../doors/transport/service-binding.ts';
import { toolProtocolService } from '../../doors/typed/serve.ts';
import { joinWords } from '../../policy/patterns/shell-words.ts';
import { ShownDefinitions } from '../../registry/shown-definitions.ts';
import { ToolVisibility } from '../../sessions/tool-visibility.ts';
import type { Config } from '../config.ts';
import type { metricsReader } from '../health/read-metrics.ts';
import type { statusReader } from '../health/read-status.ts';
import { receiptMaker } from '../kept-log/receipt-maker.ts';
import { auditVerifier } from '../kept-log/verify-audit.ts';
import { connectionsWithin, readDescriptorLimit } from '../machine/descriptor-limit.ts';
import { version } from '../version.ts';
import type { DaemonParts } from './daemon-parts.ts';

export interface DoorParts {
  readonly submit: Submit;
  readonly tools: readonly AnyTool[];
  readonly codes: LoginCodes;
  readonly attempts: AttemptCounter;
  readonly readStatus: ReturnType<typeof statusReader>;
  readonly readMetrics: ReturnType<typeof metricsReader>['read'];
  /** Called when an operator wants the daemon to stop. */
  readonly stop: (by: string) => void;
}

/** Opens every door. `mcp` is to be closed before the doors are. */
export async function serveDoors(
  parts: DaemonParts,
  given: DoorParts,
): Promise<{ readonly doors: Doors; readonly mcp: Mcp }> {
  const { config, home, store, registry, redactor, rulesFor, log } = parts;
  const shown = {
    definitions: new ShownDefinitions(redactor),
    visibility: new ToolVisibility({ store, rulesFor, modes: parts.modes.forGateway.modes }),
  };
  const mcp = openMcp({
    ...{ store, registry, ...shown, submit: given.submit, downloads: parts.downloads, redactor, version },
    maxArgumentBytes: maxArgumentBytes(parts),
    workspaceOf: parts.workspaces.of,
    linkToTask: parts.approvals.linkToTask,
    onError: (error) => log.debug('mcp', { error }),
    onFault: (error) => log.error('mcp_door_failed', { error }),
  });
  const doors = await openDoors({
    services: listServices(parts, given, shown),
    routes: [...listRoutes(parts, given), ...mcp.routes],
    tcp: { host: '127.0.0.1', port: config.port },
    callers: openCallers({ store, submit: given.submit }),
    limits: { maxConnections: connectionsWithin(readDescriptorLimit()) },
    operatorSocket: home.operatorSocket,
    agentSocket: home.agentSocket,
    ...(config.agentGroup === undefined ? {} : { agentGroup: config.agentGroup }),
    health: () => {
      const reason = store.sealed();
      return reason === undefined ? { status: 'serving' } : { status: 'sealed', reason };
    },
    log: (event) => log.warn('transport', { ...event }),
    redact: redactor.redactText,
  });
  return { doors, mcp };
}

function listServices(
  parts: DaemonParts,
  { submit, tools, readStatus, stop }: DoorParts,
  shown: { readonly definitions: ShownDefinitions; readonly visibility: ToolVisibility },
): readonly ServiceBinding[] {
  const { config, home, store, registry, redactor, log, index, uploads, downloads, approvals, anomalies } = parts;
  const { running } = parts.modes;
  return [
    toolService({
      ...{ store, registry, ...shown, submit, linkToTask: approvals.linkToTask },
      redact: redactor.redactText,
      onFault: (error) => log.error('tool_door_failed', { error }),
    }),
    toolProtocolService({
      ...{ store, uploads, submit },
      redact: redactor.redactText,
      onFault: (error) => log.error('typed_door_failed', { error }),
    }),
    contentService({ store, uploads, downloads, submit }),
    operatorService({
      store,
      hideHeldInJson: redactor.hideHeldInJson,
      readStatus,
      verify: auditVerifier(config),
      makeReceipt: receiptMaker(home, () => redactor.hideHeldInJson),
      index,
      stop,
      isStopping: () => running.isStopping,
    }),
    ...[CallService, ClientService, SessionService, LeaseService].map((service) => {
      return bindTools(service, ['operator-socket'], { store, submit, tools });
    }),
    approvalService({ ...approvals, anomalyNews: anomalies.news, store, submit, tools }),
    anomalyService({ anomalyNews: anomalies.news, store, submit, tools }),
    planService({ ...approvals, store, submit, tools }),
  ];
}

function listRoutes(parts: DaemonParts, { submit, codes, attempts, readMetrics }: DoorParts): readonly HttpRoute[] {
  const { config, store, redactor, log, telemetry } = parts;
  const calls = { store, submit, maxArgumentBytes: maxArgumentBytes(parts) };
  return [
    ...callRoutes(calls),
    ...hookRoutes({
      ...calls,
      runs: new ClientRuns(),
      execCommand: execCommand(config),
      onFault: (error) => log.error('hook_door_failed', { error }),
    }),
    ...messageRoutes({ ...calls, redact: redactor.redactText, plans: parts.approvals.plans }),
    ...metricsRoutes({ store, token: telemetry.metricsToken, readMetrics }),
    ...pageRoutes(readConsole(config.consoleFolders)),
    ...loginRoutes({ codes, store, attempts, learn: (token) => redactor.learn(token, 'token of a console') }),
  ];
}

function maxArgumentBytes({ currentRules }: DaemonParts): () => number {
  return () => currentRules().limits.maxArgumentBytes;
}

/** By absolute paths: what is called sallyport on the PATH of a client may be anything. */
function execCommand({ home, program }: Config): (ticket: string) => string {
  return (ticket) => {
    const isOwn = isWithin(home.folder, home.agentSocket);
    const command = joinWords([process.execPath, program, 'exec', ticket]);
    return isOwn ? `SALLYPORT_HOME=${joinWords([home.folder])} ${command}` : command;
  };
}
