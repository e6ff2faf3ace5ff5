import type { JsonObject } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { objectSchema } from '../files/define-file-tool.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import { processStates, readProcesses } from './read-processes.ts';
import type { ProcessTable } from './read-processes.ts';

interface HealthArguments {
  readonly names: readonly string[];
  readonly pids: readonly number[];
}

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
    inputSchema: objectSchema({
      names: {
        type: 'array',
        maxItems: 20,
        items: { type: 'string', minLength: 1, maxLength: 255 },
        default: [],
        examples: [['postgres', 'nginx']],
        description: 'Names of programs, without folders and arguments. Case matters.',
      },
      pids: {
        type: 'array',
        maxItems: 20,
        items: { type: 'integer', minimum: 1, maximum: 4_194_304 },
        default: [],
        description: 'Process ids.',
      },
    }),
    outputSchema: objectSchema({
      processes: {
        type: 'array',
        description: 'One entry for each name and each process id, in the order of the question.',
        items: objectSchema(
          {
            name: { type: 'string', description: 'The name that was asked for.' },
            pid: { type: 'integer', description: 'The process id that was asked for.' },
            status: {
              type: 'string',
              enum: [...processStates, 'missing'],
              description: 'running if one of the matches runs; missing if there is no match.',
            },
            matches: { type: 'array', items: matchSchema, description: `At most ${mostShown} of them.` },
            count: { type: 'integer', minimum: 0, description: 'How many there are.' },
          },
          { optional: ['name', 'pid'] },
        ),
      },
      scope: {
        type: 'string',
        enum: ['all', 'own'],
        description: 'own: the system hides the processes of other users, so a missing one may still run.',
      },
    }),
    claim: ({ names, pids }: HealthArguments) => {
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

const matchSchema: JsonObject = objectSchema(
  {
    pid: { type: 'integer', description: 'The process id.' },
    name: { type: 'string', description: 'The name, at most 15 bytes of it.' },
    state: { type: 'string', enum: processStates, description: 'running includes waiting for something.' },
    threads: { type: 'integer', description: 'How many threads it has.' },
    cpu_ms: { type: 'number', description: 'Processor time since it started.' },
    memory_bytes: { type: 'integer', description: 'Memory in use. Absent: it belongs to the kernel or has ended.' },
    started_at: { type: 'string', description: 'In ISO 8601.' },
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
