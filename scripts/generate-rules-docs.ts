import { circumstanceKeys, exampleCircumstances } from '../packages/gateway/src/policy/language/circumstance-keys.ts';
import { exampleKeys, ruleKeys } from '../packages/gateway/src/policy/language/read-rules.ts';
import { renderTable } from './generate-docs.ts';

/** The page docs/rules.md with what the tables of the loader say, where its comments ask for it. */
export function renderRulesPage(page: string): string {
  const rows = Object.entries(circumstanceKeys).map(([key, { absent, notes }]) => [`\`${key}\``, absent, notes]);
  const parts: Readonly<Record<string, string>> = {
    'keys of examples': `${exampleKeys.map((key) => `\`${key}\``).join(', ')}.`,
    circumstances: renderTable(['key', 'absent', 'notes'], rows),
  };
  return page.replace(/(<!-- generated: (.*?) -->\n).*?(<!-- end -->)/gs, (_all, start: string, name: string, end) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`docs/rules.md asks for "${name}", which nothing generates.`);
    return `${start}\n${part}\n\n${String(end)}`;
  });
}

interface Schema {
  readonly $defs: Readonly<Record<'rule' | 'example', { properties: Readonly<Record<string, object>> }>>;
}

/** The schema of tools.yaml, for editors: the declarations of the loader replace the earlier ones. */
export function renderToolsSchema(text: string): string {
  const schema = JSON.parse(text) as Schema;
  const declare = (
    name: keyof Schema['$defs'],
    keys: readonly string[],
    table: Readonly<Record<string, { readonly schema: object }>>,
  ): void => {
    const { properties } = schema.$defs[name];
    schema.$defs[name].properties = Object.fromEntries(
      keys.map((key) => [key, table[key]?.schema ?? properties[key] ?? {}]),
    );
  };
  declare('rule', ruleKeys, circumstanceKeys);
  declare('example', exampleKeys, exampleCircumstances);
  return JSON.stringify(schema);
}
