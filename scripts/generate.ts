// Writes all generated files; with --check says what differs and changes nothing.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generateCode, generateFiles, generatePages, listDrift, listLeftovers } from './generated-files.ts';
import { root } from './workspace.ts';

if (process.argv.includes('--check')) {
  const drift = listDrift(await generateFiles());
  for (const line of drift) console.log(line);
  if (drift.length > 0) {
    console.log('Run `npm run generate` and commit the result.');
    process.exitCode = 1;
  }
} else {
  const code = await generateCode();
  const codeDrift = listDrift(code);
  for (const path of listLeftovers(code)) rmSync(join(root, path));
  write(code);
  const pages = await generatePages();
  const drift = [...codeDrift, ...listDrift(new Map([...code, ...pages]))];
  write(pages);
  console.log(drift.length === 0 ? 'Nothing changed.' : drift.join('\n'));
}

function write(files: ReadonlyMap<string, string>): void {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
