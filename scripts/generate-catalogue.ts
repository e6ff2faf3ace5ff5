import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareNaturally } from '@sallyport/contract';
import type { Explanation, InJson, ToolDescriptor } from '@sallyport/contract';
import { openOperatorClient } from '../packages/cli/src/client/daemon-client.ts';
import type { DaemonClient } from '../packages/cli/src/client/daemon-client.ts';
import { describeArguments } from '../packages/cli/src/commands/tools/describe-schema.ts';
import { parseObject } from '../packages/cli/src/commands/tools/parse-object.ts';
import { exampleCalls, spellInvocation } from '../packages/cli/src/commands/tools/tool-show.ts';
import { readConfig, startDaemon } from '../packages/gateway/src/index.ts';
import { renderTable } from './generate-docs.ts';

type Listed = InJson<ToolDescriptor>;

/** A tool that agents can call, and how the shipped rules decide about its first example. */
interface JudgedTool {
  readonly tool: Listed;
  readonly examples: readonly Readonly<Record<string, unknown>>[];
  readonly verdict: string;
}

interface Catalogue {
  readonly forEveryone: readonly JudgedTool[];
  readonly forDirectors: readonly JudgedTool[];
  readonly forOperators: readonly Listed[];
}

/** The page docs/catalogue.md: what a gate with the shipped rules says about its built-in tools. */
export async function renderCataloguePage(): Promise<string> {
  const { forEveryone, forDirectors, forOperators } = await readCatalogue();
  const families = Map.groupBy(forEveryone, ({ tool }) => tool.name.split('.')[0] ?? '');
  return `# Built-in tools

Every tool that comes with Sallyport, by family. [tools.md](tools.md) shows how to call them and how to add your own.
\`sallyport tool show NAME\` says the same about any tool, yours included.

- **Risk** is what the tool can do at worst: low, medium, high or critical.
- **Shipped rules** says what happens to the first example when an agent calls it and you have changed no rule. A tool
  that \`needs a rule of yours\` is refused until you write one: see [rules.md](rules.md).
- **Undo** says what can be undone.

${[...families].map(([family, tools]) => renderFamily(family, tools)).join('\n\n')}

${renderFamily('For directors', forDirectors)}

## For operators

Agents neither see nor call these tools. They are behind the [commands](commands.md) and the console, and each use of
them is on record.

${renderTable(
  ['Tool', 'What it does', 'Risk'],
  forOperators.map(({ name, description, risk }) => [code(name), cell(description), risk]),
)}

This page is written by \`npm run generate\` from the definitions of the tools; a test fails when they differ.
`;
}

/** A project with tests and a linter. */
const exampleFiles = {
  'package.json': '{ "scripts": { "test": "node --test" } }',
  'tsconfig.json': '{}',
  'node_modules/.bin/tsc': '',
};

/** Asks a daemon of its own, so that a tool is on the page because a gate has it, no matter who built it in. */
async function readCatalogue(): Promise<Catalogue> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-catalogue-'));
  const workspace = join(folder, 'work');
  mkdirSync(workspace);
  const { home, ...config } = readConfig({ SALLYPORT_HOME: join(folder, 'home'), SALLYPORT_PORT: '0' });
  const rulesFolder = join(config.programFolder, 'config', 'governance');
  const formerMask = process.umask();
  try {
    const daemon = await startDaemon({ ...config, home, rulesFolder, workspace, userHome: folder });
    try {
      // What examples name.
      mkdirSync(join(workspace, 'node_modules/.bin'), { recursive: true });
      for (const [name, text] of Object.entries(exampleFiles)) writeFileSync(join(workspace, name), text);
      writeFileSync(home.databasesFile, 'databases: [{ name: shop, kind: sqlite, file: shop.db, access: write }]');
      const client = openOperatorClient({ home, port: 0, startCommand: '', environment: {} });
      const { tools } = await client.call('ToolService/ListAvailableTools', {});
      const sorted = tools.toSorted((a, b) => compareNaturally(a.name, b.name));
      const wanted = (audience: string) => sorted.filter((tool) => tool.audience === audience);
      return {
        forEveryone: await Promise.all(wanted('everyone').map((tool) => judge(tool, client))),
        forDirectors: wanted('director').map((tool) => ({
          tool,
          examples: exampleCalls(tool),
          verdict: 'asks a person',
        })),
        forOperators: wanted('operator'),
      };
    } finally {
      await daemon.stop('generate');
    }
  } finally {
    process.umask(formerMask);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Throws for examples that the tool itself would refuse. */
async function judge(tool: Listed, client: DaemonClient): Promise<JudgedTool> {
  const examples = exampleCalls(tool);
  const [first] = await Promise.all(examples.map((args) => explain(tool, args, client)));
  const verdicts: Readonly<Record<string, string>> = { allow: 'runs at once', require_approval: 'asks a person' };
  return { tool, examples, verdict: verdicts[first ?? ''] ?? 'needs a rule of yours' };
}

async function explain(tool: Listed, args: object, client: DaemonClient): Promise<string> {
  const inputJson = JSON.stringify({ tool: tool.name, arguments: args, principal: 'agent' });
  const { success, denied, error } = await client.executeTool({ name: 'policy.explain', inputJson });
  if (success?.outputJson === undefined) {
    const why = error?.message ?? denied?.message ?? '';
    throw new Error(`${tool.name}: give its definition \`examples\` that it accepts. ${JSON.stringify(args)}: ${why}`);
  }
  return (JSON.parse(success.outputJson) as InJson<Explanation>).effect;
}

function renderFamily(family: string, tools: readonly JudgedTool[]): string {
  const overview = tools.map(({ tool, verdict }) => [
    `[\`${tool.name}\`](#${tool.name.replaceAll('.', '')})`,
    cell(/^.*?[.](?= |$)/s.exec(tool.description)?.[0].slice(0, -1) ?? tool.description),
    tool.risk,
    verdict,
  ]);
  const table = renderTable(['Tool', 'What it does', 'Risk', 'Shipped rules'], overview);
  return [`## ${family}`, table, ...tools.map(renderTool)].join('\n\n');
}

function renderTool({ tool, examples, verdict }: JudgedTool): string {
  const { name, aliases, description, risk, mutates, idempotent, undo, inputSchemaJson } = tool;
  const facts = [
    ...(aliases.length === 0 ? [] : [`- Also called: ${aliases.map(code).join(', ')}`]),
    `- Risk: ${risk}; ${mutates ? 'changes things' : 'only reads'}${idempotent ? '; repeatable' : ''}`,
    `- Shipped rules: ${verdict}`,
    ...(mutates ? [`- Undo: ${undo === '' ? 'It cannot be undone.' : cell(undo)}`] : []),
  ];
  const rows = describeArguments(parseObject(inputSchemaJson)).map((row) => [
    code(row.name),
    cell(row.type),
    row.need.startsWith('=') ? code(row.need.slice(2)) : row.need,
    cell(row.description),
  ]);
  const calls = examples.map((args) => `    sallyport ${spellInvocation(name, args)}`);
  return [
    `### ${name}`,
    cell(description),
    facts.join('\n'),
    ...(rows.length === 0 ? [] : [renderTable(['Argument', 'Type', 'Default', 'Meaning'], rows)]),
    calls.join('\n'),
  ].join('\n\n');
}

function code(text: string): string {
  return `\`${text.replaceAll('|', String.raw`\|`)}\``;
}

/** Text of a definition as a part of a page: nothing in it is markup. */
function cell(text: string): string {
  return text.replace(/[\\`*_[\]<>|]/g, String.raw`\$&`);
}
