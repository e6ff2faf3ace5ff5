import { createRequire } from 'node:module';
import type { Ajv2020, Options } from 'ajv/dist/2020.js';

const require = createRequire(import.meta.url);

/**
 * A fresh instance a schema: nothing that one schema declares can reach another. Formats are remarks to readers. What
 * is compiled was checked before, and compiling the schema of schemas costs 17 ms each time.
 *
 * The library comes with the first schema that is compiled: its eighty files would slow down every start.
 */
export function createAjv(options: Options): Ajv2020 {
  const library = require('ajv/dist/2020.js') as { readonly Ajv2020: typeof Ajv2020 };
  return new library.Ajv2020({
    meta: false,
    validateSchema: false,
    useDefaults: true,
    strict: false,
    validateFormats: false,
    verbose: true,
    ownProperties: true,
    ...options,
  });
}
