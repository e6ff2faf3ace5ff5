import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { getTestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { getCallSites } from 'node:util';
import { requirements } from './requirements.ts';

/**
 * Says, at the start of a test body, which requirements the test proves. An id that nobody wrote down is an error.
 * When SALLYPORT_REQUIREMENTS_OUT names a file, one line a citation goes there: id, test file, test name.
 */
export function requirement(...ids: string[]): void {
  for (const id of ids) {
    if (!requirements.has(id)) throw new Error(`${id} is no requirement; test/requirements.ts lists them`);
  }
  const out = process.env['SALLYPORT_REQUIREMENTS_OUT'];
  if (!out) return;
  const caller = getCallSites(2)[1]?.scriptName ?? import.meta.url;
  const file = relative(`${import.meta.dirname}/..`, fileURLToPath(caller));
  const name = getTestContext()?.name ?? '';
  // One write per call keeps lines whole when several test processes append to the same file.
  appendFileSync(out, ids.map((id) => `${id}\t${file}\t${name.replaceAll(/\s/g, ' ')}\n`).join(''));
}
