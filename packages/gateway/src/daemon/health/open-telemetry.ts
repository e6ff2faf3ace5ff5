import { randomBytes } from 'node:crypto';
import type { InJson, TelemetryStatus } from '@sallyport/contract';
import type { CallFacts } from '../../call/call.ts';
import { containsHost, parseHost } from '../../policy/patterns/host-pattern.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { CallEvents } from '../../telemetry/call-events.ts';
import { CallMetrics } from '../../telemetry/metrics/call-metrics.ts';
import { readTraceSettings, wantsTraces } from '../../telemetry/otlp/read-settings.ts';
import { writeTraceparent } from '../../telemetry/trace-context.ts';
import type { Tracer } from '../../telemetry/tracer.ts';
import type { Config } from '../config.ts';
import { readOrCreateSecret } from '../home/secret-files.ts';
import { version } from '../version.ts';

/** Who watches the calls of this daemon. */
export interface Telemetry {
  readonly events: CallEvents;
  readonly metrics: CallMetrics;
  /** Absent: nobody wants spans. */
  readonly tracer: Tracer | undefined;
  /** Opens `/metrics` and nothing else. */
  readonly metricsToken: string;
  /** How a call names itself to programs and servers. Undefined: nobody follows the trace. */
  readonly traceparentOf: (call: Pick<CallFacts, 'traceId' | 'callerSpan' | 'callId'>) => string | undefined;
  /** Whether requests to this host say to which span they belong. */
  readonly isTraced: (authority: string) => boolean;
  readonly read: () => InJson<TelemetryStatus>;
  readonly warnings: () => readonly string[];
  readonly close: () => Promise<void>;
}

export async function openTelemetry({ home, environment }: Config, redactor: Redactor): Promise<Telemetry> {
  const problems: string[] = [];
  const events = CallEvents.toFile(home.callLogFile, redactor.redactText);
  const metricsToken = readOrCreateSecret(home.metricsTokenFile, () => randomBytes(32).toString('base64url'));
  redactor.learn(metricsToken, 'token for metrics');
  const tracer = await startTracer(environment, redactor, problems);
  const hosts = readHosts(environment['SALLYPORT_TRACE_HOSTS'] ?? '', problems);
  return {
    events,
    metrics: new CallMetrics(redactor.redactText),
    tracer,
    metricsToken,
    traceparentOf: (call) => {
      const { traceId, callId, callerSpan } = call;
      const isSampled = tracer === undefined ? callerSpan?.isSampled : tracer.isSampled(call);
      return isSampled === undefined ? undefined : writeTraceparent(traceId, callId, isSampled);
    },
    isTraced: (authority) => {
      const host = hosts.length === 0 ? undefined : parseHost(authority);
      return host !== undefined && hosts.some((pattern) => containsHost(pattern, host));
    },
    read: () => describeExport(tracer),
    warnings: () => {
      const { state, endpoint, problem } = tracer?.read() ?? {};
      const failing = `Spans do not reach ${endpoint}: ${problem}. Calls go on without them. See that the receiver runs and takes OTLP over HTTP.`;
      return state === 'failing' ? [...problems, failing] : problems;
    },
    close: async () => {
      await tracer?.close();
      await events.close();
    },
  };
}

/** Loads the exporter only when somebody wants spans. */
async function startTracer(
  environment: Config['environment'],
  redactor: Redactor,
  problems: string[],
): Promise<Tracer | undefined> {
  if (!wantsTraces(environment)) return undefined;
  const { settings, problems: found } = readTraceSettings(environment);
  problems.push(...found);
  if (settings === undefined) return undefined;
  const { headers, endpoint } = settings;
  for (const secret of [...Object.values(headers), decodeURIComponent(endpoint.password)])
    redactor.learn(secret, 'OTLP credential');
  const { openTracer } = await import('../../telemetry/otlp/open-tracer.ts');
  return openTracer(settings, redactor.redactText, version);
}

function describeExport(tracer: Tracer | undefined): InJson<TelemetryStatus> {
  const { state = 'off', endpoint = '', exported = 0, dropped = 0, problem = '' } = tracer?.read() ?? {};
  return { traces: state, endpoint, exportedSpans: String(exported), droppedSpans: String(dropped), problem };
}

function readHosts(text: string, problems: string[]) {
  const names = text.split(',').flatMap((name) => name.trim() || []);
  const hosts = names.map(parseHost).filter((host) => host !== undefined);
  if (hosts.length < names.length)
    problems.push('SALLYPORT_TRACE_HOSTS must be a list of hosts such as api.example.com,*.internal.example:8443.');
  return hosts;
}
