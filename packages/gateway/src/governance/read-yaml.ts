import { isAlias, isCollection, isNode, isPair, LineCounter, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';
import type { SourceFile } from './rule-files.ts';
import type { Position, Problem } from './rule.ts';

/** A file of rules, parsed. `root` is missing when the file is absent, empty or no YAML. */
export interface YamlFile {
  readonly file: string;
  readonly root?: Node;
  /** Present with `root`. */
  readonly document?: Document;
  readonly problems: readonly Problem[];
  readonly locate: (node: Node) => Position;
}

/** Never throws: whatever is wrong with the file becomes a problem with a place. */
export function readYaml({ file, bytes, problem }: SourceFile): YamlFile {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const locate = (node: Node): Position => at(node.range?.[0] ?? 0);
  const fail = (message: string): YamlFile => ({ file, problems: [{ file, line: 1, column: 1, message }], locate });

  if (problem !== undefined) return fail(problem);
  if (bytes === undefined) return { file, problems: [], locate };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: true,
      stringKeys: true,
      strict: true,
      prettyErrors: false,
      lineCounter: lines,
    });
    const problems = [
      ...listSyntaxErrors(document).map(({ offset, message }) => ({ file, ...at(offset), message })),
      ...listForbiddenParts(document).map(({ node, message }) => ({ file, ...locate(node), message })),
    ];
    // Below a syntax error the tree is a guess; other problems leave it readable, so that all can be told at once.
    const legible = document.errors.every(({ code }) => code === 'DUPLICATE_KEY');
    const root = legible ? document.contents : null;
    return { file, problems, locate, ...(root === null ? {} : { root, document }) };
  } catch (error) {
    return fail(explainUnreadable(error));
  }
}

function explainUnreadable(error: unknown): string {
  if (error instanceof RangeError) return 'is nested too deeply';
  if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text';
  return error instanceof Error ? `cannot be read: ${error.message}` : 'cannot be read';
}

/** Warnings of the parser are errors here: they are about tags it did not understand and documents it skipped. */
function listSyntaxErrors(document: Document): { offset: number; message: string }[] {
  return [...document.errors, ...document.warnings].map(({ code, message, pos }) => ({
    offset: pos[0],
    message: explainSyntax(code, message),
  }));
}

function explainSyntax(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'this key stands here twice';
  if (code === 'TAB_AS_INDENT') return 'a tab cannot indent; use spaces';
  if (code === 'MULTIPLE_DOCS') return 'a second document ("---") starts here; one file holds one document';
  if (code === 'RESOURCE_EXHAUSTION') return 'is nested too deeply';
  if (code === 'TAG_RESOLVE_FAILED') return 'tags ("!…") are not allowed';
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** What makes a text mean something else than it shows: names for parts used elsewhere, types by tag, directives. */
function listForbiddenParts(document: Document): { node: Node; message: string }[] {
  const found: { node: Node; message: string }[] = [];
  const { contents, directives } = document;
  if (contents !== null && (directives?.yaml.explicit === true || Object.keys(directives?.tags ?? {}).length > 1)) {
    found.push({ node: contents, message: 'directives ("%…") are not allowed' });
  }
  for (const node of walk(contents)) {
    if (isAlias(node))
      found.push({ node, message: 'aliases ("*name") are not allowed; quote the text if it is a pattern' });
    else if (node.anchor) found.push({ node, message: 'anchors ("&name") are not allowed' });
    if (node.tag?.startsWith('tag:yaml.org,2002:')) found.push({ node, message: 'tags ("!…") are not allowed' });
  }
  return found;
}

/** Every node from top to bottom. The library's own way takes a tenth of all the time that reading takes. */
function walk(root: unknown): readonly Node[] {
  const nodes: Node[] = [];
  const visit = (node: unknown): void => {
    if (isPair(node)) {
      visit(node.key);
      visit(node.value);
    } else if (isNode(node)) {
      nodes.push(node);
      if (isCollection(node)) for (const item of node.items) visit(item);
    }
  };
  visit(root);
  return nodes;
}
