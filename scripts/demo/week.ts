/** Who works, on what, and how it goes: the week of a demonstration, as calls with their times. */
export interface PlannedCall {
  readonly atMs: number;
  readonly agent: string;
  readonly tool: string;
  readonly input: object;
  /** What becomes of it when it waits for a person. Absent: it is approved. */
  readonly decision?: Decision;
  /** Calls of one piece of work have the same. */
  readonly run: number;
}

/** `expired`: nobody answers. `pending`: it waits when the week is over. */
export type Decision = 'approved' | 'denied' | 'expired' | 'pending';

type Step = Pick<PlannedCall, 'tool' | 'input' | 'decision'>;

export const agents = ['scout', 'builder', 'reviewer', 'tester', 'release-bot', 'docs-writer'] as const;
export type AgentName = (typeof agents)[number];

/** Programs and people take time: of a very long week only the beginning has them. */
export const mostWithPrograms = 2000;
const runsProgram = /^(?:git|shell|code|tickets|web)\./;
const dayMs = 86_400_000;
const hourMs = 3_600_000;
const sources = ['src/berths.ts', 'src/invoice.ts', 'src/tides.ts', 'src/server.ts'];
const words = ['findBerths', 'vatRate', 'tide12', 'Route', 'lengthMetres', 'TODO'];

const read = (path: string): Step => ({ tool: 'files.read', input: { path } });
const ticket = (id: string): Step => ({ tool: 'tickets.get_ticket', input: { id } });

/** The pieces of work of each agent. `pick` chooses, the same way each time. */
const work: Readonly<Record<AgentName, (pick: Picker, at: number) => readonly Step[]>> = {
  scout: (pick) => [
    { tool: 'files.list', input: { path: pick(['.', 'src', 'docs']) } },
    { tool: 'files.search', input: { path: '.', content: pick(words) } },
    read(pick(sources)),
    read(pick(sources)),
    ...(pick([0, 0, 1]) === 1 ? [read('.env')] : []),
    ...(pick([0, 0, 1]) === 1
      ? [{ tool: 'web.fetch', input: { url: 'https://tides.example/2026' }, decision: refusedOften(pick) }]
      : []),
    { tool: 'tickets.search_tickets', input: { query: pick(['berth', 'invoice', 'tide']) } },
  ],
  builder: (pick, at) => [
    ticket(pick(['HB-101', 'HB-118', 'HB-123'])),
    read(pick(sources)),
    { tool: 'files.write', input: { path: `src/feature-${at % 9}.ts`, content: `export const change = ${at};\n` } },
    {
      tool: 'files.edit',
      input: {
        path: `src/feature-${at % 9}.ts`,
        old_content: `change = ${at};`,
        new_content: `change = ${at};
export const isTried = ${at % 2 === 0};`,
      },
    },
    { tool: 'shell.run', input: { argv: ['node', '--version'] } },
    ...(at % 6 === 0
      ? [{ tool: 'files.delete', input: { path: `src/feature-${at % 9}.ts` }, decision: pick(decisions) }]
      : []),
    ...(at % 5 === 0 ? [{ tool: 'git.add', input: { args: ['src'] }, decision: pick(decisions) }] : []),
  ],
  reviewer: (pick) => [
    { tool: 'git.status', input: {} },
    { tool: 'git.log', input: { args: ['-n', '5'] } },
    read(pick(sources)),
    read('test/berths.test.ts'),
    { tool: 'code.search', input: { query: pick(words) } },
  ],
  tester: (pick, at) => [
    read('package.json'),
    { tool: 'shell.run', input: { argv: ['node', '--test', 'test'] } },
    ...(at % 4 === 0 ? [{ tool: 'shell.run', input: { argv: ['npm', 'install', 'left-pad'] } }] : []),
    {
      tool: 'files.write',
      input: { path: `tmp/report-${at % 20}.txt`, content: `run ${at}: ${pick(['ok', 'ok', '1 failed'])}\n` },
    },
    ...(at % 7 === 0 ? [read('test/missing.test.ts')] : []),
  ],
  'release-bot': (pick, at) => [
    { tool: 'git.log', input: { args: ['-n', '3'] } },
    read('CHANGELOG.md'),
    ...(at % 3 === 0 ? [{ tool: 'git.tag', input: { args: [`v1.8.${at}`] }, decision: pick(decisions) }] : []),
    ...(at % 2 === 0 ? [{ tool: 'git.push', input: { args: ['origin', 'main'] } }] : []),
  ],
  'docs-writer': (pick, at) => [
    read(pick(['README.md', 'docs/tides.md', 'docs/architecture.md'])),
    {
      tool: 'files.write',
      input: { path: `docs/notes-${at % 12}.md`, content: `# Notes ${at}\n\nBerths are numbered from the pier.\n` },
    },
    ...(at % 5 === 0
      ? [
          {
            tool: 'tickets.comment',
            input: { id: 'HB-101', body: `The berth list is explained in docs/notes-${at % 12}.md.` },
            decision: pick(decisions),
          },
        ]
      : []),
  ],
};

const decisions: readonly Decision[] = ['approved', 'approved', 'approved', 'approved', 'denied', 'expired'];

/** Nothing of a demonstration leaves the machine. */
const refusedOften = (pick: Picker): Decision => pick(['denied', 'expired'] as const);

type Picker = <Value>(values: readonly Value[]) => Value;

/** The same numbers each time, so that two demonstrations are alike. */
function pickerOf(seed: number): Picker {
  let state = seed;
  return (values) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return values[state % values.length] as (typeof values)[number];
  };
}

/** Pieces of work on seven days up to now, in their order: most in working hours, fewer at the weekend. */
export function planWeek(nowMs: number, calls: number): readonly PlannedCall[] {
  const pick = pickerOf(7);
  const runs: { readonly agent: AgentName; readonly steps: readonly Step[] }[] = [];
  const counts = new Map<AgentName, number>();
  for (let planned = 0; planned < calls;) {
    const agent = pick(weighted);
    const at = counts.get(agent) ?? 0;
    counts.set(agent, at + 1);
    const isFull = planned >= mostWithPrograms;
    const steps = work[agent](pick, at).filter(
      ({ tool, decision }) => !isFull || (!runsProgram.test(tool) && decision === undefined),
    );
    runs.push({ agent, steps });
    planned += steps.length;
  }
  const gapMs = Math.min(9000, (hourMs * 3) / runs.length);
  const times = runs.map((_, at) => spread(at / runs.length, nowMs)).toSorted((a, b) => a - b);
  const planned = runs.flatMap(({ agent, steps }, run) =>
    steps.map((step, at): PlannedCall => {
      const atMs = Math.min((times[run] ?? nowMs) + at * gapMs, nowMs - 1000);
      return { ...step, agent, run, atMs };
    }),
  );
  return planned.toSorted((a, b) => a.atMs - b.atMs);
}

const weighted: readonly AgentName[] = [
  ...(['builder', 'builder', 'builder', 'builder', 'scout', 'scout', 'scout'] as const),
  ...(['tester', 'tester', 'reviewer', 'reviewer', 'docs-writer', 'release-bot'] as const),
];

/** Weights of the hours of a day, from midnight on. */
const hours = [1, 1, 0, 0, 0, 1, 2, 4, 9, 12, 13, 11, 7, 10, 13, 12, 11, 8, 5, 3, 3, 2, 2, 1];

/** A moment in the last seven days, where `part` runs from 0 to 1. */
function spread(part: number, nowMs: number): number {
  const total = hours.reduce((sum, weight) => sum + weight, 0);
  const dayPart = part * 7;
  const day = Math.floor(dayPart);
  let left = (dayPart - day) * total;
  const startMs = nowMs - (7 - day) * dayMs;
  const midnightMs = Math.floor(startMs / dayMs) * dayMs;
  // The hours of this day from the moment of now on, around midnight and back.
  const first = Math.floor((startMs - midnightMs) / hourMs);
  for (let step = 0; step < 24; step++) {
    const weight = hours[(first + step) % 24] ?? 0;
    if (left < weight) return startMs + (step + left / weight) * hourMs;
    left -= weight;
  }
  return startMs + dayMs - 1;
}
