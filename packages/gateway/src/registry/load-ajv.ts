import { createRequire } from 'node:module';
import type { Ajv2020 } from 'ajv/dist/2020.js';

const require = createRequire(import.meta.url);

/** The library comes with the first schema that is compiled: its eighty files would slow down every start. */
export function loadAjv(): typeof Ajv2020 {
  return (require('ajv/dist/2020.js') as { readonly Ajv2020: typeof Ajv2020 }).Ajv2020;
}
