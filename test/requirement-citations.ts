import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requirementAreas } from './requirements.ts';

export const root = join(import.meta.dirname, '..');

/** Files by the id they cite. */
export type Citations = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads all test files for `requirement('…')`, without running them. Paths start at `folder`. */
export function collectCitations(folder: string = root): Citations {
  const citations = new Map<string, Set<string>>();
  const exclude = (name: string): boolean => name.includes('node_modules');
  for (const file of globSync(['packages/**/*.test.ts', 'test/**/*.test.ts'], { cwd: folder, exclude }).sort()) {
    for (const id of findCitedIds(readFileSync(join(folder, file), 'utf8'))) {
      const files = citations.get(id) ?? new Set();
      citations.set(id, files.add(file));
    }
  }
  return citations;
}

export function findCitedIds(source: string): string[] {
  const calls = source.matchAll(/\brequirement\(([^)]*)\)/g);
  return [...calls].flatMap(([, args = '']) =>
    [...args.matchAll(/(['"`])([^'"`]*)\1/g)].map((match) => match[2] ?? ''),
  );
}

/** The report for people: by area, which files prove what, and what is open. */
export function renderCoverage(citations: Citations): string {
  const lines: string[] = [];
  let provedCount = 0;
  let count = 0;
  for (const { area, title, requirements } of requirementAreas) {
    const rows = Object.entries(requirements);
    const proved = rows.filter(([id]) => citations.has(id)).length;
    provedCount += proved;
    count += rows.length;
    lines.push('', `${area}  ${title}: ${proved} of ${rows.length}`);
    for (const [id, text] of rows) {
      const files = [...(citations.get(id) ?? [])];
      lines.push(`  ${files.length > 0 ? '✔' : '·'} ${id.padEnd(8)} ${text}`);
      for (const file of files) lines.push(`             ${file}`);
    }
  }
  lines.push('', `${provedCount} of ${count} requirements are cited by a test, ${count - provedCount} are open.`);
  return lines.join('\n').trimStart();
}
