// Reads source code with the grammars of tree-sitter, in a thread of its own: what is read may be large or hostile, and the
// grammars are loaded only for the languages that are asked for.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type * as TreeSitter from '@vscode/tree-sitter-wasm';
import { collectSymbols } from './collect-symbols.ts';
import type { CodeSymbol } from './collect-symbols.ts';

const grammars = ['typescript', 'tsx', 'javascript', 'python'] as const;
export type Grammar = (typeof grammars)[number];

export interface SourceText {
  readonly path: string;
  readonly grammar: Grammar;
  readonly text: string;
}

export interface SymbolQuestion {
  readonly files: readonly SourceText[];
  /** The last part of the name. */
  readonly name: string;
}

export interface FoundSymbol extends CodeSymbol {
  readonly path: string;
}

const { files, name } = workerData as SymbolQuestion;
// The package brings its files along and finds them beside itself, so it is no part of a build.
const packageFile = createRequire(import.meta.url).resolve('@vscode/tree-sitter-wasm');
const { Parser, Language } = createRequire(import.meta.url)(packageFile) as typeof TreeSitter;
const loaded = new Map<Grammar, Promise<TreeSitter.Language>>();

await Parser.init();
const parser = new Parser();
const found: FoundSymbol[] = [];
for (const { path, grammar, text } of files) {
  parser.setLanguage(await load(grammar));
  const tree = parser.parse(text);
  if (tree === null) continue;
  const language = grammar === 'python' ? 'python' : 'typescript';
  const symbols = collectSymbols(tree.rootNode, language).filter((symbol) => symbol.name === name);
  found.push(...symbols.map((symbol) => ({ path, ...symbol })));
  tree.delete();
}
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a port takes none
parentPort?.postMessage(found);

function load(grammar: Grammar): Promise<TreeSitter.Language> {
  const bytes = (): Uint8Array => readFileSync(join(dirname(packageFile), `tree-sitter-${grammar}.wasm`));
  const language = loaded.get(grammar) ?? Language.load(bytes());
  loaded.set(grammar, language);
  return language;
}
