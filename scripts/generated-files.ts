import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { renderCommandsPage, renderErrorsPage } from './generate-docs.ts';
import { renderRulesPage, renderToolsSchema } from './generate-rules-docs.ts';
import { binFolder, root, toolEnvironment } from './workspace.ts';

const contractFolder = 'packages/contract';
const codeFolder = `${contractFolder}/src/gen`;

/** All committed files that a program writes, fresh from their sources: content by path from the root. */
export async function generateFiles(): Promise<Map<string, string>> {
  const files = new Map([
    ['docs/errors.md', renderErrorsPage()],
    ['docs/commands.md', await renderCommandsPage()],
    rewrite('docs/rules.md', renderRulesPage),
    rewrite('config/governance/schemas/tools.schema.json', renderToolsSchema),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-generate-'));
  try {
    const cwd = join(root, contractFolder);
    await promisify(execFile)(join(binFolder, 'buf'), ['generate', '-o', folder], { cwd, env: toolEnvironment() });
    for (const path of globSync('src/gen/**/*.ts', { cwd: folder })) {
      files.set(`${contractFolder}/${path}`, readFileSync(join(folder, path), 'utf8'));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return files;
}

/** A file of which parts are generated, formatted as the rest of it. */
function rewrite(path: string, render: (text: string) => string): [path: string, content: string] {
  const input = render(readFileSync(join(root, path), 'utf8'));
  const options = { cwd: root, env: toolEnvironment(), input, encoding: 'utf8' } as const;
  return [path, execFileSync(join(binFolder, 'oxfmt'), ['--stdin-filepath', path], options)];
}

/** Generated code in the folder that no source produces any more. */
export function listLeftovers(files: ReadonlyMap<string, string>, folder = root): string[] {
  return globSync(`${codeFolder}/**/*.ts`, { cwd: folder }).filter((path) => !files.has(path));
}

/** What differs between the folder and what would be generated, one sentence each. */
export function listDrift(files: ReadonlyMap<string, string>, folder = root): string[] {
  const drift = listLeftovers(files, folder).map((path) => `${path} is no longer generated`);
  for (const [path, content] of files) {
    const present = readIfPresent(join(folder, path));
    if (present === undefined) drift.push(`${path} is missing`);
    else if (present !== content) drift.push(`${path} is out of date`);
  }
  return drift.sort();
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
