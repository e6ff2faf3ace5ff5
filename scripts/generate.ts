// Writes all generated files; with --check says what differs and changes nothing.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generateFiles, listDrift, listLeftovers } from './generated-files.ts';
import { root } from './workspace.ts';

const files = await generateFiles();
const drift = listDrift(files);

if (process.argv.includes('--check')) {
  for (const line of drift) console.log(line);
  if (drift.length > 0) {
    console.log('Run `npm run generate` and commit the result.');
    process.exitCode = 1;
  }
} else {
  for (const path of listLeftovers(files)) rmSync(join(root, path));
  for (const [path, content] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  console.log(drift.length === 0 ? 'Nothing changed.' : drift.join('\n'));
}
