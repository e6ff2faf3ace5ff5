import { resolve } from 'node:path';
import type { Access } from '@sallyport/sandbox';
import type { PathClaim } from '../../../call/tool.ts';
import { joinWords } from '../../../policy/patterns/shell-words.ts';
import { hidden } from './evaluated.ts';
import type { TreeFilter, TreeReading } from './find-tree.ts';
import { isLooking, isPlainSetting } from './known-options.ts';
import type { Doubt, DoubtKind, Reading, ReadWord, Scope } from './reading.ts';

/** Collects what a reader of a script finds in it. */
export class Findings {
  readonly #commands = new Set<string>();
  readonly #paths = new Map<string, PathClaim>();
  readonly #trees = new Map<string, TreeReading>();
  readonly #hosts = new Set<string>();
  readonly #doubts = new Map<string, Doubt>();

  finish(): Reading {
    return {
      commands: [...this.#commands],
      paths: [...this.#paths.values()],
      trees: [...this.#trees.values()],
      hosts: [...this.#hosts],
      doubts: [...this.#doubts.values()],
    };
  }

  doubt(kind: DoubtKind, text: string): void {
    this.#doubts.set(`${kind} ${text}`, { kind, text });
  }

  get commandCount(): number {
    return this.#commands.size;
  }

  /** What is not known stands there as written, in quotes: rules see a word that no plain pattern means. */
  noteCommand(words: readonly ReadWord[]): void {
    this.#commands.add(
      joinWords(words.map(({ value, text, isPattern }) => (isPattern === true ? text : (value ?? text)))),
    );
  }

  claim({ word, access }: { readonly word: ReadWord; readonly access: Access }, scope: Scope): void {
    if (word.value !== undefined && harmless.has(word.value)) return;
    if (word.isPattern === true) this.doubt('pattern', word.text);
    const paths = this.resolveAll(word, scope);
    if (paths === undefined) return this.doubt(word.value === undefined ? 'word' : 'folder', word.text);
    for (const path of paths) this.#paths.set(`${access} ${path}`, { path, access });
  }

  /** Everything that the word may name. Of a pattern, the folder in which it begins. Undefined: it is not known. */
  resolveAll({ value, isPattern }: ReadWord, { folders }: Scope): readonly string[] | undefined {
    if (value === undefined) return undefined;
    const fixed = isPattern === true ? beforePattern(value) : value;
    if (fixed.startsWith('/')) return [resolve(fixed)];
    return folders?.map((folder) => resolve(folder, fixed));
  }

  noteHost(value: string): void {
    const [, authority = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(value) ?? [];
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    if (host !== '') this.#hosts.add(host.toLowerCase());
  }

  noteTree(root: ReadWord, tree: TreeFilter, scope: Scope): void {
    for (const path of this.resolveAll(root, scope) ?? []) {
      this.#trees.set(JSON.stringify([path, tree]), { path, ...tree });
    }
  }

  /** A variable for one program. Of those that only look, it is known which variables change nothing else. */
  checkSetting(program: string, name: string, value: string | undefined): void {
    if (isPlainSetting(name, value)) return;
    if (isLooking(program.slice(program.lastIndexOf('/') + 1))) this.doubt('environment', `${name}=${value ?? '…'}`);
    else this.checkVariable(name, value);
  }

  /** Some variables make every program afterwards do something else. */
  checkVariable(name: string, value: string | undefined): void {
    if (tellingVariable.test(name) && !isPlainSetting(name, value))
      this.doubt('environment', `${name}=${value ?? '…'}`);
    // Where a number is wanted, the shell looks into values again, and runs what it finds there.
    if (hidden.test(name) || hidden.test(value ?? '')) this.doubt('code', `${name}=${value ?? '…'}`);
  }
}

const harmless = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/stdin', '/dev/fd/63', '/dev/tty', '-']);
const tellingVariable =
  /^(PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|CDPATH|PROMPT_COMMAND|PS4|LD_\w+|DYLD_\w+|GIT_\w+|XDG_\w+|GCONV_PATH|LOCPATH|RIPGREP_CONFIG_PATH|EDITOR|VISUAL|PAGER|MANPAGER|LESSOPEN|LESSCLOSE|PERL5LIB|PERL5OPT|PYTHON(PATH|STARTUP|HOME)|NODE_OPTIONS|NODE_PATH|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|HOME|\w*_PROXY|\w*_proxy)$/;

function beforePattern(pattern: string): string {
  const fixed = pattern.slice(0, pattern.search(/[*?[{]|[@+!]\(/));
  return fixed.slice(0, fixed.lastIndexOf('/') + 1) || '.';
}
