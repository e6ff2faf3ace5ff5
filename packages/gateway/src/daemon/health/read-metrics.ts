import { statSync } from 'node:fs';
import type { monitorEventLoopDelay } from 'node:perf_hooks';
import { modes } from '../../call/session.ts';
import type { Turnstile } from '../../call/turnstile.ts';
import type { Store } from '../../storage/stores.ts';
import { counter, gauge } from '../../telemetry/metrics/exposition.ts';
import type { MetricFamily } from '../../telemetry/metrics/exposition.ts';
import type { Home } from '../home/home.ts';
import type { Telemetry } from './open-telemetry.ts';
import { version } from '../version.ts';

export interface MeasuredDaemon {
  readonly home: Pick<Home, 'databaseFile'>;
  readonly store: Store;
  readonly calls: Turnstile;
  readonly transfers: Turnstile;
  readonly telemetry: Telemetry;
}

const mostPending = 10_000;
const quantiles = [0.5, 0.99, 1] as const;

/** All that `/metrics` tells. Nothing is measured in between but what calls count themselves. */
export function metricsReader({ home, store, calls, transfers, telemetry }: MeasuredDaemon) {
  const delay = new LoopDelay();
  return {
    read: async (): Promise<readonly MetricFamily[]> => [
      labelled('sallyport_build_info', 'The version that runs.', [[{ version }, 1]]),
      ...telemetry.metrics.read(),
      gauge('sallyport_calls_running', 'Calls that run now.', calls.running),
      gauge('sallyport_calls_waiting', 'Calls that wait for a place among the running ones.', calls.waiting),
      gauge('sallyport_transfers_running', 'Transfers of content that run now.', transfers.running),
      gauge('sallyport_transfers_waiting', 'Transfers of content that wait for a place.', transfers.waiting),
      gauge(
        'sallyport_approvals_pending',
        `Calls that wait for a person, counted up to ${mostPending}.`,
        await store.countAllPending(mostPending),
      ),
      gauge('sallyport_sessions', 'Sessions that have not ended.', store.liveSessions().length),
      gauge('sallyport_writer_queue_length', 'Writes to the database that are not durable yet.', store.unwritten()),
      gauge('sallyport_log_records', 'Records in the audit log.', await store.logSize()),
      gauge('sallyport_database_bytes', 'Size of the database with its log of writes.', sizeOf(home.databaseFile)),
      labelled(
        'sallyport_mode',
        'The mode that is in force.',
        modes.map((mode) => [{ mode }, store.readMode() === mode ? 1 : 0]),
      ),
      gauge('sallyport_sealed', '1 while nothing can be recorded and so nothing runs.', store.sealed() ? 1 : 0),
      counter(
        'sallyport_call_events_dropped_total',
        'Events of calls that were lost because the disk did not keep up.',
        telemetry.events.dropped,
      ),
      ...(telemetry.tracer?.metrics() ?? []),
      ...delay.read(),
      gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', process.memoryUsage.rss()),
      counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', cpuSeconds()),
      gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', startSeconds()),
    ],
    close: () => delay.close(),
  };
}

function labelled(
  name: string,
  help: string,
  values: readonly (readonly [Readonly<Record<string, string>>, number])[],
): MetricFamily {
  return { name, help, type: 'gauge', samples: values.map(([labels, value]) => ({ labels, value })) };
}

function sizeOf(databaseFile: string): number {
  const files = [databaseFile, `${databaseFile}-wal`];
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function startSeconds(): number {
  return Math.round(performance.timeOrigin) / 1000;
}

const resolutionMs = 20;
const unreadMs = 5 * 60_000;

/**
 * How late the event loop is. Measuring wakes the process fifty times a second, so it begins with the first reader and
 * ends when nobody has read for minutes.
 */
class LoopDelay {
  #histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Since the reading before. */
  read(): readonly MetricFamily[] {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), unreadMs).unref();
    if (this.#histogram === undefined) {
      const perfHooks = process.getBuiltinModule('node:perf_hooks');
      this.#histogram = perfHooks.monitorEventLoopDelay({ resolution: resolutionMs });
      this.#histogram.enable();
      return [];
    }
    const histogram = this.#histogram;
    const seconds = (nanos: number): number => Math.max(0, nanos / 1e9 - resolutionMs / 1000);
    const samples = quantiles.map((quantile) => {
      const nanos = quantile === 1 ? histogram.max : histogram.percentile(quantile * 100);
      return [{ quantile: String(quantile) }, histogram.count === 0 ? 0 : seconds(nanos)] as const;
    });
    histogram.reset();
    return [
      labelled('sallyport_event_loop_delay_seconds', 'How late the event loop was since the last reading.', samples),
    ];
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#histogram?.disable();
    this.#histogram = undefined;
  }
}
