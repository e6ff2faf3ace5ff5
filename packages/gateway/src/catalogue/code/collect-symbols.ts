import type { Node } from '@vscode/tree-sitter-wasm';

/** Something that source code declares under a name. */
export interface CodeSymbol {
  readonly name: string;
  readonly kind: string;
  /** Names of what it is declared in, outermost first. */
  readonly containers: readonly string[];
  /** From 1 on. */
  readonly line: number;
  readonly endLine: number;
  /** How it is declared, without its body. */
  readonly signature: string;
  /** What its author wrote about it. Absent: nothing. */
  readonly documentation?: string;
}

type Language = 'typescript' | 'python';

const longestSignature = 500;
const longestDocumentation = 10_000;
const deepest = 500;

const kinds: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  typescript: {
    function_declaration: 'function',
    generator_function_declaration: 'function',
    function_signature: 'function',
    class_declaration: 'class',
    abstract_class_declaration: 'class',
    interface_declaration: 'interface',
    type_alias_declaration: 'type',
    enum_declaration: 'enum',
    internal_module: 'namespace',
    module: 'namespace',
    method_definition: 'method',
    method_signature: 'method',
    abstract_method_signature: 'method',
    public_field_definition: 'property',
    field_definition: 'property',
    property_signature: 'property',
    variable_declarator: 'variable',
  },
  python: {
    function_definition: 'function',
    class_definition: 'class',
    assignment: 'variable',
    type_alias_statement: 'type',
  },
};

/** Every declaration in a syntax tree, in the order of the text. */
export function collectSymbols(root: Node, language: Language): readonly CodeSymbol[] {
  const found: CodeSymbol[] = [];
  const walk = (node: Node, containers: readonly string[], inClass: boolean, depth: number): void => {
    const kind = kinds[language][node.type];
    const name = kind === undefined ? undefined : nameOf(node);
    if (kind !== undefined && name !== undefined) {
      found.push(describe(node, name, refine(kind, node, inClass), containers, language));
    }
    if (depth === deepest) return;
    const inner = name === undefined ? containers : [...containers, name];
    const isClass = name === undefined ? inClass : kind === 'class';
    for (const child of node.namedChildren) if (child !== null) walk(child, inner, isClass, depth + 1);
  };
  walk(root, [], false, 0);
  return found;
}

/** Undefined: it declares no single name, such as a pattern. */
function nameOf(node: Node): string | undefined {
  const named = node.childForFieldName('name') ?? node.childForFieldName('left');
  if (named === null) return undefined;
  const inner = named.type === 'type' ? named.firstNamedChild : named;
  const isName = inner !== null && /^(?:\w*identifier|string)$/.test(inner.type) && inner.text.length <= 500;
  return isName ? inner.text.replace(/^(['"])(.*)\1$/, '$2') : undefined;
}

function refine(kind: string, node: Node, inClass: boolean): string {
  if (kind === 'function' && inClass) return 'method';
  if (kind !== 'variable') return kind;
  const value = node.childForFieldName('value')?.type ?? '';
  if (['arrow_function', 'function_expression', 'generator_function'].includes(value)) return 'function';
  return value === 'class' ? 'class' : inClass ? 'property' : 'variable';
}

function describe(
  node: Node,
  name: string,
  kind: string,
  containers: readonly string[],
  language: Language,
): CodeSymbol {
  const documentation = (language === 'python' ? readDocstring(node) : readComment(node)).slice(
    0,
    longestDocumentation,
  );
  return {
    name,
    kind,
    containers,
    line: node.startPosition.row + 1,
    endLine: node.endPosition.row + 1,
    signature: signatureOf(node),
    ...(documentation === '' ? {} : { documentation }),
  };
}

function signatureOf(node: Node): string {
  const value = node.childForFieldName('value');
  const body = node.childForFieldName('body') ?? value?.childForFieldName('body') ?? null;
  const isShape = ['interface_declaration', 'enum_declaration'].includes(node.type);
  const text = body === null || isShape ? node.text : node.text.slice(0, body.startIndex - node.startIndex);
  return text
    .replaceAll(/\s+/g, ' ')
    .replace(/ ?(?:=>|[{:]) ?$/, '')
    .trim()
    .slice(0, longestSignature)
    .toWellFormed();
}

/** The comment right above a declaration, with what is around it on the way: `export`, `const`, decorators. */
function readComment(node: Node): string {
  let outer = node;
  while (
    outer.parent !== null &&
    /^(?:export_statement|lexical_declaration|variable_declaration|ambient_declaration|expression_statement)$/.test(
      outer.parent.type,
    )
  ) {
    outer = outer.parent;
  }
  const comments: string[] = [];
  let next = outer;
  for (let above = outer.previousNamedSibling; above !== null; above = above.previousNamedSibling) {
    if (above.type === 'decorator') {
      next = above;
      continue;
    }
    const isNear = above.endPosition.row >= next.startPosition.row - 1;
    if (above.type !== 'comment' || !isNear || (comments.length > 0 && above.text.startsWith('/*'))) break;
    comments.unshift(above.text);
    next = above;
    if (above.text.startsWith('/*')) break;
  }
  return comments.map(cleanComment).join('\n').trim();
}

function cleanComment(text: string): string {
  if (text.startsWith('//')) return text.replace(/^\/\/+ ?/, '');
  const lines = text
    .replace(/^\/\*+/, '')
    .replace(/\*+\/$/, '')
    .split('\n');
  return lines
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
}

/** A text that is the first statement of the body. */
function readDocstring(node: Node): string {
  const first = node.childForFieldName('body')?.firstNamedChild;
  const text = first?.type === 'expression_statement' ? first.firstNamedChild : null;
  if (text?.type !== 'string') return '';
  const content = text.namedChildren
    .filter((part) => part?.type === 'string_content')
    .map((part) => part?.text ?? '')
    .join('');
  const lines = content.split('\n');
  const indents = lines
    .slice(1)
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  const indent = indents.length === 0 ? 0 : indents.reduce((least, each) => Math.min(least, each));
  return lines
    .map((line, at) => (at === 0 ? line : line.slice(indent)))
    .join('\n')
    .trim();
}
