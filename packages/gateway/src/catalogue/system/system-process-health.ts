import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import { processStates, readProcesses } from './read-processes.ts';
import type { ProcessTable } from './read-processes.ts';
import * as schema from '../../registry/schemas/schema.ts';

const mostShown = 20;

export function systemProcessHealth(): AnyTool {
  return defineTool({
    name: 'system.process_health',
    aliases: ['check_process_health'],
    description:
      'Check whether processes run on this machine, by name or process id: state, start time, processor time and memory. Arguments of processes are not shown.',
    examples: [{ names: ['postgres'] }],
    tags: ['system'],
    risk: 'low',
    timeoutMs: 10_000,
    inputSchema: schema.object({
      names: schema.array(
        'Names of programs, without folders and arguments. Case matters.',
        { type: 'string', minLength: 1, maxLength: 255 },
        { maxItems: 20, default: [], examples: [['postgres', 'nginx']] },
      ),
      pids: schema.array(
        'Process ids.',
        { type: 'integer', minimum: 1, maximum: 4_194_304 },
        { maxItems: 20, default: [] },
      ),
    }),
    outputSchema: schema.object({
      processes: schema.array(
        'One entry for each name and each process id, in the order of the question.',
        schema.object(
          {
            name: schema.string('The name that was asked for.'),
            pid: schema.integer('The process id that was asked for.'),
            status: schema.choice('running if one of the matches runs; missing if there is no match.', [
              ...processStates,
              'missing',
            ]),
            matches: schema.array(`At most ${mostShown} of them.`, matchSchema),
            count: schema.count('How many there are.'),
          },
          { optional: ['name', 'pid'] },
        ),
      ),
      scope: schema.choice('own: the system hides the processes of other users, so a missing one may still run.', [
        'all',
        'own',
      ]),
    }),
    claim: ({ names, pids }) => {
      if (names.length + pids.length > 0) return { paths: [] };
      throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'arguments', 'Give names or pids.'));
    },
    preview: ({ names, pids }) => looksAt(`Look for the processes ${[...names, ...pids].join(', ')}`),
    run: async ({ names, pids }) => {
      if (process.platform !== 'linux')
        throw new ToolFailure('EXECUTION_ERROR', 'Processes can be looked at on Linux only.');
      const table = await readProcesses();
      return {
        processes: [
          ...names.map((name) => ({ name, ...describe(table, (each) => each.names.includes(name)) })),
          ...pids.map((pid) => ({ pid, ...describe(table, ({ found }) => found.pid === pid) })),
        ],
        scope: table.scope,
      };
    },
    summarize: (_, { processes }) => {
      const running = processes.filter(({ status }) => status === 'running').length;
      return `${running} of ${processes.length} running`;
    },
  });
}

const matchSchema = schema.object(
  {
    pid: schema.integer('The process id.'),
    name: schema.string('The name, at most 15 bytes of it.'),
    state: schema.choice('running includes waiting for something.', processStates),
    threads: schema.integer('How many threads it has.'),
    cpu_ms: { type: 'number', description: 'Processor time since it started.' },
    memory_bytes: schema.integer('Memory in use. Absent: it belongs to the kernel or has ended.'),
    started_at: schema.string('In ISO 8601.'),
  },
  { optional: ['memory_bytes'] },
);

type Entry = ProcessTable['processes'][number];

function describe({ processes }: ProcessTable, isWanted: (entry: Entry) => boolean) {
  const matches = processes.filter(isWanted).map(({ found }) => found);
  const states = matches.map(({ state }) => state);
  const status = processStates.find((state) => states.includes(state)) ?? 'missing';
  return { status, matches: matches.slice(0, mostShown), count: matches.length };
}
