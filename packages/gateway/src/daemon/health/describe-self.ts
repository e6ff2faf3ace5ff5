import type { JsonObject } from '@sallyport/contract';
import type { Check } from '../../catalogue/self/check.ts';
import type { SelfParts } from '../../catalogue/self/index.ts';
import type { Limits, Rates, Rules } from '../../call/verdict.ts';
import type { Store } from '../../storage/stores.ts';
import { checkMachine, checkWarnings } from '../machine/check-machine.ts';
import { describeAbilities } from '../machine/describe-abilities.ts';
import { tryProgram } from '../machine/try-program.ts';
import type { Config } from '../config.ts';
import type { Executor } from '../parts/open-executor.ts';
import { version } from '../version.ts';

export interface DescribedDaemon {
  readonly config: Config;
  readonly store: Store;
  readonly executor: Pick<Executor, 'programs'>;
  readonly rules: () => Rules;
  readonly workspace: string;
  readonly address: () => string;
  /** What an operator should look at. */
  readonly warnings: () => readonly string[];
}

/** What the running daemon says about itself, to the tools that show it. */
export function describeSelf({ config, store, executor, rules, workspace, ...daemon }: DescribedDaemon): SelfParts {
  const { home } = config;
  return {
    settings: {
      forEveryone: (session) => ({
        gate: { version, mode: store.readMode(), profile: store.readOrganisation().settings.profile },
        session: {
          agent: session.agent,
          workspace: session.workspace ?? workspace,
          working_directory: session.workingDirectory,
        },
        limits: describeLimits(rules().limits, session.principal === 'agent'),
      }),
      forOperators: () => ({
        places: {
          home: home.folder,
          database: home.databaseFile,
          log: home.logFile,
          operator_socket: home.operatorSocket,
          agent_socket: home.agentSocket,
          tools: home.toolsFolder,
          databases: home.databasesFile,
          address: daemon.address(),
        },
        rules: { folder: rules().folder, sha256: rules().hash, count: rules().count },
        environment: Object.fromEntries(
          Object.entries(process.env).flatMap(([name, value]) =>
            name.startsWith('SALLYPORT_') ? [[name, value ?? '']] : [],
          ),
        ),
      }),
    },
    runChecks: async () => {
      const sandbox = describeAbilities(await executor.programs.abilities);
      const machine = checkMachine({ config, workspace, sandbox });
      const program = await tryProgram(executor.programs);
      return [...machine, program, checkLog(store.sealed()), ...checkWarnings(daemon.warnings(), machine)];
    },
  };
}

function checkLog(sealedBecause: string | undefined): Check {
  if (sealedBecause === undefined) return { name: 'log', state: 'ok', message: 'Records are written.' };
  return { name: 'log', state: 'fail', message: `The gate is sealed: ${sealedBecause}` };
}

function describeLimits(limits: Limits, isAgent: boolean): JsonObject {
  const { approvals, maxRunning, maxRunningPerSession, maxArgumentBytes } = limits;
  return {
    max_running: maxRunning,
    max_running_per_session: maxRunningPerSession,
    max_argument_bytes: maxArgumentBytes,
    approval_expires_after_ms: approvals.expireAfterMs,
    max_pending_approvals: approvals.maxPending,
    rates: describeRates(limits.rates),
    ...(isAgent ? {} : { team_rates: describeRates(limits.teamRates) }),
  };
}

function describeRates(rates: Rates): readonly JsonObject[] {
  return rates.map(({ tools, limits }) => ({
    tools,
    limits: limits.map(({ windowMs, calls }) => ({ window_ms: windowMs, calls })),
  }));
}
