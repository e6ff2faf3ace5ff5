import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { binFolder, root, toolEnvironment } from './workspace.ts';

const contractFolder = 'packages/contract';
const codeFolder = `${contractFolder}/src/gen`;

/** All committed files that a program writes, fresh from their sources: content by path from the root. */
export async function generateFiles(): Promise<Map<string, string>> {
  return new Map([...(await generateCode()), ...(await generatePages())]);
}

export async function generateCode(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
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

/** What our own programs say about themselves, generated code included: it is loaded here, once it has been written. */
export async function generatePages(): Promise<Map<string, string>> {
  const { renderCommandsPage, renderErrorsPage } = await import('./generate-docs.ts');
  const { renderRulesPage, renderToolsSchema } = await import('./generate-rules-docs.ts');
  const { renderCataloguePage } = await import('./generate-catalogue.ts');
  const { buildReceiptPage } = await import('./build-receipt-page.ts');
  return new Map([
    ['docs/errors.md', renderErrorsPage()],
    ['docs/commands.md', await renderCommandsPage()],
    ['docs/catalogue.md', await renderCataloguePage()],
    ['packages/log/verify-receipt.html', await buildReceiptPage()],
    rewrite('docs/rules.md', renderRulesPage),
    rewrite('config/governance/schemas/tools.schema.json', renderToolsSchema),
  ]);
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
