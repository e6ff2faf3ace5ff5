import { copyFileSync } from 'node:fs';
import { join } from 'node:path';

/** The page is made from the code of this package and comes with it. */
const builtPage = join(import.meta.dirname, '../../verify-receipt.html');

export function writePage(file: string): void {
  copyFileSync(builtPage, file);
  process.stdout.write(`${file} checks receipts in a browser: open it and drop a receipt on it.\n`);
}
