import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './workspace.ts';

const pageFolder = join(root, 'packages/log/page');

/**
 * The page that checks receipts in a browser: one file, made from the code that `sallyport-log verify` runs. Its policy
 * allows its own script and style and nothing else, so that it cannot send anything anywhere.
 */
export async function buildReceiptPage(): Promise<string> {
  const bundle = await rolldown({
    input: join(pageFolder, 'page.ts'),
    platform: 'browser',
    resolve: { alias: { 'node:crypto': join(pageFolder, 'node-crypto.ts') } },
    logLevel: 'warn',
  });
  const { output } = await bundle.generate({ format: 'esm', minify: false, comments: false });
  await bundle.close();
  const [chunk] = output;
  const script = `\n${chunk.code.trim()}\n`;
  const style = `\n${readFileSync(join(pageFolder, 'page.css'), 'utf8').trim()}\n`;
  if (output.length !== 1 || /<\/(?:script|style)/i.test(script + style)) throw new Error('the page is not one file');
  const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; base-uri 'none'; form-action 'none'`;
  return readFileSync(join(pageFolder, 'page.html'), 'utf8')
    .replace('{policy}', () => policy)
    .replace('{style}', () => style)
    .replace('{script}', () => script);
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
