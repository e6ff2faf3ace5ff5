import { createRequire } from 'node:module';
import type * as library2020 from 'ajv/dist/2020.js';
import type { Ajv2020, Code, KeywordCxt, Name, Options } from 'ajv/dist/2020.js';

const require = createRequire(import.meta.url);

type Library = typeof library2020;

/**
 * A fresh instance a schema: nothing that one schema declares can reach another. Formats are remarks to readers. What
 * is compiled was checked before, and compiling the schema of schemas costs 17 ms each time.
 *
 * The library comes with the first schema that is compiled: its eighty files would slow down every start.
 */
export function createAjv(options: Options): Ajv2020 {
  const library = require('ajv/dist/2020.js') as Library;
  const ajv = new library.Ajv2020({
    meta: false,
    validateSchema: false,
    useDefaults: true,
    strict: false,
    validateFormats: false,
    verbose: true,
    ownProperties: true,
    ...options,
  });
  measureLengthsQuickly(ajv, library);
  return ajv;
}

/**
 * The library counts the characters of every text whose length is limited, which takes tens of milliseconds for 15 MB. A
 * character is one unit of a text or two, so that its length decides nearly always.
 */
function measureLengthsQuickly(ajv: Ajv2020, { _, str }: Pick<Library, '_' | 'str'>): void {
  const addKeyword = (keyword: string, word: string, fails: (cxt: KeywordCxt) => Code): void => {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      // No pattern sees a text that is too long.
      before: 'pattern',
      error: {
        message: ({ schemaCode }) => str`must NOT have ${word} than ${schemaCode} characters`,
        params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
      },
      code: (cxt) => cxt.fail(fails(cxt)),
    });
  };
  const count = ({ gen }: KeywordCxt): Name => gen.scopeValue('func', { ref: countCharacters });
  addKeyword('maxLength', 'more', (cxt) => {
    const { data, schemaCode: most } = cxt;
    return _`${data}.length > ${most} && ${count(cxt)}(${data}) > ${most}`;
  });
  addKeyword('minLength', 'fewer', (cxt) => {
    const { data, schemaCode: least } = cxt;
    return _`${data}.length < 2 * ${least} && ${count(cxt)}(${data}) < ${least}`;
  });
}

function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) at++;
    count++;
  }
  return count;
}
