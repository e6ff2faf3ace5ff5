import { spellCount } from '@sallyport/contract';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import { failureFrom } from '../files/failure-from.ts';
import { findSymbols } from './find-symbols.ts';
import type { FoundSymbol } from './symbols-thread.ts';
import * as schema from '../../registry/schemas/schema.ts';

const languages = 'TypeScript, JavaScript and Python';
/** Packages are skipped unless the path leads into one. */
const inputSchema = schema.object({
  symbol: schema.string('The name, exactly as it is written; Class.method for a member.', {
    pattern: String.raw`^[\p{L}\p{N}_$#]+(\.[\p{L}\p{N}_$#]+){0,5}$`,
    maxLength: 300,
    examples: ['parsePath'],
  }),
  path: schema.path('The folder or file to look in. Folders of packages are skipped unless this leads into one.', {
    default: '.',
  }),
  max_results: schema.integer('The most results.', { minimum: 1, maximum: 200, default: 20 }),
});
type SymbolArguments = schema.ValueOf<typeof inputSchema>;

const placeProperties = {
  name: schema.string('The name.'),
  kind: schema.string('function, method, class, interface, type, enum, variable and so on.'),
  container: schema.string('What it is declared in. Absent: the file.'),
  path: schema.string('The file, from the folder that was looked in.'),
  line: schema.integer('Where it begins.', { minimum: 1 }),
  end_line: schema.integer('Where it ends.', { minimum: 1 }),
  signature: schema.string('How it is declared, without its body.'),
};

const rest = {
  omitted: schema.count('How many files and folders the rules keep back.'),
  truncated: schema.boolean('Whether there are, or may be, more.'),
};

export function codeDefinition(): AnyTool {
  return defineTool({
    name: 'code.definition',
    aliases: ['get_definition'],
    description: `Find where a name is declared in the source code, by its syntax and not by text: functions, classes, methods, types and variables. ${languages}.`,
    ...common,
    outputSchema: schema.object({
      definitions: schema.array(
        'The declarations, in the order of their files.',
        schema.object(placeProperties, { optional: ['container'] }),
      ),
      ...rest,
    }),
    preview: ({ symbol }) => looksAt(`Look for the definition of ${symbol}`),
    run: async (args, context) => {
      const { symbols, omitted, truncated } = await look(args, context);
      return { definitions: symbols.map(place), omitted, truncated };
    },
    summarize: (_, { definitions }) => spellCount(definitions.length, 'definition'),
  });
}

export function codeDocumentation(): AnyTool {
  return defineTool({
    name: 'code.documentation',
    aliases: ['get_documentation'],
    description: `Read what the source code says about a name: the comment above its declaration, or its docstring, with its signature. ${languages}.`,
    ...common,
    outputSchema: schema.object({
      documentation: schema.array(
        'One entry for each declaration; those with a text first.',
        schema.object(
          { ...placeProperties, text: schema.string('What its author wrote. Absent: nothing.') },
          { optional: ['container', 'text'] },
        ),
      ),
      ...rest,
    }),
    preview: ({ symbol }) => looksAt(`Look for the documentation of ${symbol}`),
    run: async (args, context) => {
      const { symbols, omitted, truncated } = await look(args, context);
      const documented = symbols.toSorted(
        (a, b) => Number(b.documentation !== undefined) - Number(a.documentation !== undefined),
      );
      const documentation = documented.map((symbol) => {
        return { ...place(symbol), ...(symbol.documentation === undefined ? {} : { text: symbol.documentation }) };
      });
      return { documentation, omitted, truncated };
    },
    summarize: (_, { documentation }) => spellCount(documentation.length, 'declaration'),
  });
}

const common = {
  tags: ['code'],
  risk: 'low',
  scopes: ['paths'],
  timeoutMs: 40_000,
  pathArguments: ['path'],
  inputSchema,
  claim: ({ path }: SymbolArguments, { workingDirectory }: { readonly workingDirectory: string }) => ({
    paths: [{ path: parsePath(path, workingDirectory).path, access: 'read' as const }],
  }),
} as const;

async function look({ path, symbol, max_results: most }: SymbolArguments, context: ToolContext) {
  try {
    const found = await findSymbols(parsePath(path, context.workingDirectory), symbol, context);
    const { symbols, omitted, isCut } = found;
    return { symbols: symbols.slice(0, most), omitted, truncated: isCut || symbols.length > most };
  } catch (error) {
    throw failureFrom(error, path);
  }
}

function place({ name, kind, containers, path, line, endLine, signature }: FoundSymbol) {
  const container = containers.join('.');
  return { name, kind, ...(container === '' ? {} : { container }), path, line, end_line: endLine, signature };
}
