import { YAMLException } from 'js-yaml';
import { parseYaml } from './parse-yaml.ts';
import type { SourceFile, Position, Problem } from './source-file.ts';
import type { YamlNode } from './yaml-node.ts';

/** A file of rules, parsed. `root` is missing when the file is absent, empty or no YAML. */
export interface YamlFile {
  readonly file: string;
  readonly root?: YamlNode;
  readonly problems: readonly Problem[];
  readonly locate: (node: YamlNode) => Position;
}

/** Never throws: whatever is wrong with the file becomes a problem with a place. */
export function readYaml({ file, bytes, problem }: SourceFile): YamlFile {
  let lines = new Lines('');
  const locate = (node: YamlNode): Position => lines.locate(node.start);
  const fail = (message: string, at = 0): YamlFile => ({
    file,
    problems: [{ file, ...lines.locate(at), message }],
    locate,
  });

  if (problem !== undefined) return fail(problem);
  if (bytes === undefined) return { file, problems: [], locate };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    lines = new Lines(text);
    const { root, objections } = parseYaml(text);
    const problems = objections.map(({ at, message }) => ({ file, ...lines.locate(at), message }));
    return { file, problems, locate, ...(root && { root }) };
  } catch (error) {
    return fail(explainUnreadable(error), error instanceof YAMLException ? error.mark?.position : 0);
  }
}

function explainUnreadable(error: unknown): string {
  if (error instanceof YAMLException) return explainSyntax(error.reason);
  if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text';
  return error instanceof Error ? `cannot be read: ${error.message}` : 'cannot be read';
}

/** What the parser says, and how a person who edits a file understands it. */
const explanations: readonly (readonly [reason: RegExp, explanation: string])[] = [
  [/^nesting exceeded/, 'is nested too deeply'],
  [/^tab characters/, 'a tab cannot indent; use spaces'],
  [/quoted scalar$/, 'the text ends within quotes; close them'],
  [/within a flow collection$/, 'the text ends within brackets; close them with ] or }'],
  [/^deficient indentation/, 'quotes or brackets are still open here; close them, or indent what belongs to them'],
  [/^missed comma/, 'a comma is missing here'],
  [/found ','$/, 'there is nothing before this comma'],
  [/^bad indentation of a sequence/, 'this item is not indented like those before it'],
  [
    /^bad indentation of a mapping/,
    'this cannot stand here; look at the indentation, and put text with signs in quotes',
  ],
  [/^end of the stream or a document/, 'this does not go on with what stands before; look at the indentation'],
  [/^can not read a block mapping entry|^expected ':'/, 'a key needs ":" behind it, on the same line'],
  [/^name of an alias/, 'a pattern that begins with * needs quotes'],
  [/^unknown escape/, 'there is no such escape; within "…" write \\\\ for \\, or use \'…\''],
  [/non-printable|null byte/, 'a character that cannot be seen stands here; write it as an escape within "…"'],
];

function explainSyntax(reason: string): string {
  return explanations.find(([pattern]) => pattern.test(reason))?.[1] ?? `is no YAML: ${reason}`;
}

/** Where the lines of a text begin; found when first asked for. */
class Lines {
  readonly #text: string;
  #starts: number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  locate(offset: number): Position {
    const starts = (this.#starts ??= findStarts(this.#text));
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 };
  }
}

function findStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
