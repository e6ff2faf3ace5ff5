import { SpawnerClient } from '@sallyport/sandbox';
import type { Abilities } from '@sallyport/sandbox';
import type { SandboxState } from '../../stages/check-sandbox.ts';
import type { EventLog } from '../../telemetry/event-log.ts';
import { watchedLimits } from '../machine/describe-abilities.ts';

export interface Executor {
  readonly programs: SpawnerClient;
  readonly sandbox: SandboxState;
  /** Undefined until the spawner has looked at the machine. */
  readonly abilities: () => Abilities | undefined;
}

/** Starts the spawner, which goes on while the rest of the daemon starts. */
export function openExecutor(log: EventLog): Executor {
  // Where the kernel cannot enforce limits, they are watched, unless a rule demands more.
  const programs = new SpawnerClient({
    enforcement: 'sampled',
    onTrouble: (message) => log.warn('executor', { message }),
  });
  let known: Abilities | undefined;
  const learn = async (): Promise<void> => {
    known = await programs.abilities;
    log.info('executor_ready', { ...known });
  };
  void learn();
  return {
    programs,
    // As long as nobody knows, a call waits for the spawner, which refuses by itself.
    sandbox: {
      explainUnusable: () => (known?.sandbox.usable === false ? known.sandbox : undefined),
      explainWatched: () => (known === undefined || known.limits === 'cgroup' ? undefined : watchedLimits),
    },
    abilities: () => known,
  };
}
