import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const numbered = (count: number, line: (at: number) => string): string =>
  `${Array.from({ length: count }, (_, at) => line(at)).join('\n')}\n`;

/** The files of the project that the agents of the demonstration work on: the web site of a harbour. */
const files: Readonly<Record<string, string>> = {
  'README.md': '# Harbour\n\nBerths, tides and invoices of a small harbour.\n\n    npm test\n',
  'package.json': '{\n  "name": "harbour",\n  "version": "1.8.2",\n  "scripts": { "test": "node --test" }\n}\n',
  'src/berths.ts': [
    'export interface Berth {',
    '  readonly name: string;',
    '  readonly lengthMetres: number;',
    '}',
    '',
    '/** Those that a boat fits into, the shortest first. */',
    'export function findBerths(berths: readonly Berth[], lengthMetres: number): readonly Berth[] {',
    '  const fitting = berths.filter((berth) => berth.lengthMetres > lengthMetres);',
    '  return fitting.sort((a, b) => a.lengthMetres - b.lengthMetres);',
    '}',
    '',
  ].join('\n'),
  'src/invoice.ts': [
    'const vatRate = 0.19;',
    '',
    '/** In cents. */',
    'export function addVat(netCents: number): number {',
    '  return Math.round(netCents * (1 + vatRate));',
    '}',
    '',
    'export function formatCents(cents: number): string {',
    "  return (cents / 100).toFixed(2) + ' EUR';",
    '}',
    '',
  ].join('\n'),
  'src/tides.ts': numbered(
    60,
    (at) => `export const tide${at + 1} = { atMinute: ${at * 372}, heightCm: ${140 + ((at * 37) % 90)} };`,
  ),
  'src/server.ts': numbered(40, (at) => (at === 0 ? "import { findBerths } from './berths.ts';" : `// Route ${at}`)),
  'test/berths.test.ts': "import { findBerths } from '../src/berths.ts';\n\n// TODO: a berth as long as the boat\n",
  'docs/architecture.md': '# Architecture\n\nThree modules, no database.\n',
  'docs/tides.md': '# Tides\n\nWhere the table comes from.\n',
  'CHANGELOG.md': '# Changelog\n\n## 1.8.2\n\n- Tides of 2026.\n',
  '.env': 'INVOICE_API_KEY=not-for-agents\n',
  '.vscode/tasks.json': '{\n  "version": "2.0.0",\n  "tasks": []\n}\n',
  'tmp/export-1.csv': 'berth;nights\nA1;12\n',
  'tmp/export-2.csv': 'berth;nights\nA2;7\n',
  'tmp/export-10.csv': 'berth;nights\nB4;3\n',
};

/** Programs of a daemon that runs as root belong to this user. */
const programUser = 65_530;

/** Writes the project into an empty folder, as a git repository. */
export function writeProject(folder: string): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=Mara', '-c', 'user.email=mara@harbour.example', ...args]);
  writeFileSync(join(folder, '.gitignore'), '.env\ntmp/\n');
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message=Harbour 1.8.2');
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${programUser}:${programUser}`, folder]);
}
