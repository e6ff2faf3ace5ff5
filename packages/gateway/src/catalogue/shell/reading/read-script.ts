import { resolve } from 'node:path';
import { parse } from 'unbash';
import type {
  AndOr,
  Assignment,
  Command,
  CompoundList,
  ParsedScript,
  PipelineNode,
  Redirection,
  Statement,
  Word,
} from 'unbash';
import type { Access } from '@sallyport/sandbox';
import type { PathClaim } from '../../../call/tool.ts';
import { joinWords } from '../../../policy/patterns/shell-words.ts';
import { claimArguments, isSilent } from './claim-arguments.ts';
import { mayHoldCode, wordsOf } from './evaluated.ts';
import { findTree } from './find-tree.ts';
import type { TreeFilter, TreeReading } from './find-tree.ts';
import { findInner } from './find-inner.ts';
import type { Inner } from './find-inner.ts';
import { isLooking, isPlainSetting, readKnownArguments } from './known-options.ts';
import { readArithmetic, readWord } from './read-word.ts';
import { Scope } from './reading.ts';
import type { Doubt, DoubtKind, Reading, ReadWord } from './reading.ts';

const mostBytes = 96 * 1024;
const mostCommands = 500;
const deepest = 16;

/**
 * Reads a command as a shell would, for those who judge it: every program and file that its text names, wherever it
 * stands, and what the text does not tell. It refuses nothing; who cannot know raises the risk. Never throws.
 */
export function readScript(text: string, place: { readonly cwd: string; readonly home: string }): Reading {
  const reader = new ScriptReader();
  if (Buffer.byteLength(text) > mostBytes || !text.isWellFormed() || /[\0-\x08\x0b\x0e-\x1f\x7f]/.test(text)) {
    reader.doubt('syntax', 'the whole command');
  } else {
    reader.readText(text, new Scope([place.cwd], place.home));
  }
  return reader.finish();
}

class ScriptReader {
  readonly #commands = new Set<string>();
  readonly #paths = new Map<string, PathClaim>();
  readonly #trees = new Map<string, TreeReading>();
  readonly #hosts = new Set<string>();
  readonly #doubts = new Map<string, Doubt>();
  #depth = 0;
  /** A function that is called may make names mean programs again. */
  #takesBack = false;

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

  readText(text: string, scope: Scope): void {
    this.#readScript(parse(text), text, scope);
  }

  #readScript(script: ParsedScript | undefined, text: string, scope: Scope): void {
    if (script === undefined || this.#depth >= deepest || this.#commands.size > mostCommands) {
      return this.doubt('syntax', text);
    }
    if ((script.errors?.length ?? 0) > 0) this.doubt('syntax', text);
    this.#depth++;
    this.#readStatements(script.commands, scope);
    this.#depth--;
  }

  #readStatements(statements: readonly Statement[], scope: Scope): void {
    for (const { command, background } of statements) {
      const before = scope.copy();
      if (background === true) this.#readNode(command, scope.copy());
      else this.#readNode(command, scope);
      // What a command did not do because it failed, the next one does not find done.
      if (!scope.stopsOnFailure) scope.folders = joinFolders(before, scope);
    }
  }

  #readList({ commands }: CompoundList, scope: Scope): void {
    this.#readStatements(commands, scope);
  }

  /** Each branch begins with what is known here, and afterwards any of them may be what happened. */
  #readBranches(branches: readonly (CompoundList | undefined)[], scope: Scope): void {
    const ends = branches.map((branch) => {
      const own = scope.copy();
      if (branch !== undefined) this.#readList(branch, own);
      return own;
    });
    for (const end of ends) scope.join(end);
  }

  /** Any of them may run, and after one of them the next ones, too. */
  #readCases(bodies: readonly CompoundList[], scope: Scope): void {
    for (const body of bodies) this.#readPerhaps(() => this.#readList(body, scope), scope);
  }

  /** It may run, and it may not. */
  #readPerhaps(read: () => void, scope: Scope): void {
    const before = scope.copy();
    read();
    scope.join(before);
  }

  /** A loop may find what an earlier round left, and its condition too. */
  #readLoop(round: readonly CompoundList[], scope: Scope): void {
    const silent = new ScriptReader();
    silent.#depth = this.#depth;
    silent.#readPerhaps(() => round.forEach((part) => silent.#readList(part, scope)), scope);
    this.#readPerhaps(() => round.forEach((part) => this.#readList(part, scope)), scope);
  }

  #readNode(node: PipelineNode | AndOr, scope: Scope, isFed = false): void {
    const word = (each: Word): ReadWord => this.#readWord(each, scope);
    switch (node.type) {
      case 'Command':
        return this.#readCommand(node, scope, isFed);
      case 'Pipeline':
        if (node.commands.length === 1 && node.commands[0] !== undefined) {
          return this.#readNode(node.commands[0], scope, isFed);
        }
        for (const [index, command] of node.commands.entries()) {
          this.#readNode(command, scope.copy(), isFed || index > 0);
        }
        return;
      case 'AndOr':
        return this.#readAndOr(node, scope);
      case 'Redirected':
        this.#readRedirects(node.redirects, scope);
        // Where a file cannot be opened, nothing runs.
        return this.#readPerhaps(() => this.#readNode(node.command, scope, isFed || node.redirects.some(feeds)), scope);
      case 'Subshell':
        return this.#readList(node.body, scope.copy());
      case 'BraceGroup':
        return this.#readList(node.body, scope);
      case 'If': {
        this.#readList(node.clause, scope);
        for (const { clause } of node.elif) this.#readPerhaps(() => this.#readList(clause, scope), scope);
        return this.#readBranches([node.then, ...node.elif.map(({ then }) => then), node.else], scope);
      }
      case 'While':
        this.#readList(node.clause, scope);
        return this.#readLoop([node.body, node.clause], scope);
      case 'For':
      case 'Select': {
        const values = (node.wordlist ?? []).map(word);
        const [only, ...more] = values;
        const name = node.name.value;
        const isNumber = values.length > 0 && values.every(isNumeric);
        this.#assign(name, more.length === 0 && only?.isPattern !== true ? only?.value : undefined, scope, {
          isNumber,
        });
        return this.#readLoop([node.body], scope);
      }
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) this.#readArithmetic(part, scope);
        return this.#readLoop([node.body], scope);
      case 'Case':
        word(node.word);
        for (const { pattern } of node.items) pattern.forEach(word);
        return this.#readCases(
          node.items.map(({ body }) => body),
          scope,
        );
      case 'TestCommand':
        return this.#readTest(node.expression, scope);
      case 'ArithmeticCommand':
        return this.#readArithmetic(node.expression, scope);
      case 'Function': {
        scope.functions.add(node.name.value);
        // What it does, it does where it is called, and with what is known there.
        const inside = scope.copy();
        inside.folders = undefined;
        inside.variables.clear();
        inside.numbers.clear();
        // By then, others may have been taken back.
        inside.functions.clear();
        inside.isFunction = true;
        if (node.body.type === 'CompoundList') return this.#readList(node.body, inside);
        return this.#readNode(node.body, inside);
      }
      case 'Coproc':
        if (node.body.type === 'CompoundList') return this.#readList(node.body, scope.copy());
        return this.#readNode(node.body, scope.copy());
    }
  }

  /** What is known where all so far has succeeded, which is what goes on after `&&`, and where it has not. */
  #readAndOr({ commands, operators }: AndOr, succeeded: Scope): void {
    let failed: Scope | undefined;
    for (const [index, command] of commands.entries()) {
      if (failed !== undefined && operators[index - 1] === '||') {
        const run = failed.copy();
        this.#readNode(command, run);
        succeeded.join(run);
        failed.join(run);
        continue;
      }
      const before = succeeded.copy();
      this.#readNode(command, succeeded);
      // What failed may have done nothing. To set a variable does not fail.
      const isSetting = command.type === 'Command' && command.name === undefined;
      const ended = succeeded.copy();
      if (index > 0 || !isSetting) ended.join(before);
      if (failed === undefined) failed = ended;
      else failed.join(ended);
    }
    if (failed !== undefined) succeeded.join(failed);
  }

  #readArithmetic(expression: object | undefined, scope: Scope): void {
    readArithmetic(expression, this.#innerReader(scope));
    for (const text of wordsOf(expression)) if (mayHoldCode(text, scope)) this.doubt('code', text);
  }

  #readTest(expression: object, scope: Scope): void {
    const looksIntoValues = evaluatingTests.has(String(Reflect.get(expression, 'operator')));
    for (const child of Object.values(expression) as unknown[]) {
      if (Array.isArray(child)) for (const each of child) this.#readTest(each as object, scope);
      else if (child !== null && typeof child === 'object') {
        if ('type' in child && child.type === 'Word') {
          const { value, text } = this.#readWord(child as Word, scope);
          if (value === undefined ? looksIntoValues && mayHoldCode(text, scope) : hidden.test(value))
            this.doubt('code', text);
        } else this.#readTest(child, scope);
      }
    }
  }

  #readCommand(command: Command, scope: Scope, isFed: boolean): void {
    const assignments = command.prefix.filter((each): each is Assignment => each.type === 'Assignment');
    this.#readRedirects(command.redirects, scope);
    const set = new Map(assignments.map((each) => [each.name, this.#readAssignment(each, scope)]));
    if (command.name === undefined) {
      const mayFail = command.redirects.length > 0;
      for (const [name, { value, isNumber = false }] of set) {
        this.#checkVariable(name, value);
        scope.set(name, mayFail ? undefined : value, { isNumber });
      }
      return;
    }
    // To `sh`, they are set for good.
    if (special.has(command.name.value)) for (const name of set.keys()) scope.set(name, undefined);
    // `IFS= read` is how lines are read; it lasts for that word alone.
    if (command.name.value !== 'read')
      for (const [name, { value }] of set) this.#checkSetting(command.name.value, name, value);
    const words = [command.name, ...command.args].map((each) => {
      if (each.type === 'Word') return this.#readWord(each, scope);
      const { value, isNumber = false } = this.#readAssignment(each, scope);
      this.#checkVariable(each.name, value);
      // Any other declaration may make something else of the value, or be meant for another place.
      const isPlain = command.name?.value === 'export' && command.redirects.length === 0;
      scope.set(each.name, isPlain ? value : undefined, { isNumber });
      return { text: each.text, ...(value === undefined ? {} : { value: `${each.name}=${value}` }) };
    });
    this.#readWords(words, scope, isFed || command.redirects.some(feeds));
  }

  /** A command and whatever it starts. */
  #readWords(words: readonly ReadWord[], scope: Scope, isFed: boolean): void {
    const [program, ...args] = words;
    if (program === undefined) return;
    if (scope.functions.has(program.value ?? '')) {
      // What it runs was read where it is defined. It may have set anything, and have gone anywhere.
      const known = this.#takesBack ? [] : [...scope.functions];
      scope.forget();
      for (const each of known) scope.functions.add(each);
      return;
    }
    // What is not known stands there as written, in quotes: rules see a word that no plain pattern means.
    this.#commands.add(
      joinWords(words.map(({ value, text, isPattern }) => (isPattern === true ? text : (value ?? text)))),
    );
    if (program.value === undefined || program.isPattern === true) return this.doubt('program', program.text);
    const name = program.value.slice(program.value.lastIndexOf('/') + 1);
    for (const { value, text, isPattern } of isSilent(name) ? [] : args) {
      if (value === undefined || isPattern === true) this.doubt(value === undefined ? 'word' : 'pattern', text);
    }
    if (name !== program.value) this.#claim({ word: program, access: 'read' }, scope);
    if (evaluating.has(name)) {
      for (const { value, text } of args) if (value !== undefined && hidden.test(value)) this.doubt('code', text);
      for (const { text } of findEvaluated(name, args, scope)) this.doubt('code', text);
    }
    const inner = findInner(name, args, isFed);
    // The words of another command are claimed with that command.
    const own = inner.some(({ script }) => script !== undefined) ? [] : args.slice(0, ownWords(name, args, inner));
    for (const named of claimArguments(name, own)) this.#claim(named, scope);
    for (const { text } of readKnownArguments(name, own)?.strange ?? []) this.doubt('option', text);
    const tree = findTree(name, own);
    if (tree !== undefined) for (const root of tree.roots) this.#readTree(root, tree.filter, scope);
    for (const { value } of args) this.#noteHost(value ?? '');
    // Only in this very shell does a name still mean a function.
    for (const each of inner) this.#readInner(each, scope, name === 'eval');
    this.#change(name, args, scope);
    // They run in this shell what is theirs to run, with words that are read as words only.
    const [started] = inner;
    if (passingOn.has(name) && changing.has(started?.command?.[0]?.value ?? '')) scope.forget();
  }

  #readInner(
    { command, isOpen, script, code, environment = [], folder }: Inner,
    scope: Scope,
    knowsFunctions: boolean,
  ): void {
    const inside = scope.copy();
    if (!knowsFunctions) inside.functions.clear();
    for (const setting of environment) {
      const at = setting.indexOf('=');
      this.#checkSetting(command?.[0]?.value ?? '', setting.slice(0, at), setting.slice(at + 1));
    }
    if (folder !== undefined) inside.folders = this.#resolveAll(folder, scope);
    if (code !== undefined) this.doubt('code', code);
    if (script?.value !== undefined) this.readNested(script.value, inside);
    else if (script !== undefined) this.doubt('code', script.text);
    if (command === undefined) return;
    if (isOpen === true) this.doubt('word', command.map(({ text }) => text).join(' '));
    this.#readWords(command, inside, false);
  }

  readNested(text: string, scope: Scope): void {
    if (this.#depth >= deepest) return this.doubt('syntax', text);
    this.#depth++;
    this.readText(text, scope);
    this.#depth--;
  }

  /** What a command of the shell itself changes for those after it. */
  #change(name: string, args: readonly ReadWord[], scope: Scope): void {
    const [first] = args.filter(({ value }) => value === undefined || !/^-[LPe@]+$/.test(value));
    if (name === 'cd' || name === 'pushd') {
      if (first?.value === '-') scope.folders = undefined;
      else scope.folders = first === undefined ? [scope.home] : this.#resolveAll(first, scope);
      if (scope.folders === undefined) this.doubt('folder', first?.text ?? name);
    } else if (name === 'popd') {
      scope.folders = undefined;
      this.doubt('folder', name);
    } else if (name === 'set') {
      if (args.some(({ value }) => /^-[a-z]*e|^errexit$/.test(value ?? ''))) scope.stopsOnFailure = true;
      if (args.some(({ value }) => /^\+[a-z]*e/.test(value ?? ''))) scope.stopsOnFailure = false;
    } else if (
      name === 'read' ||
      name === 'mapfile' ||
      name === 'readarray' ||
      name === 'unset' ||
      name === 'getopts' ||
      name === 'wait'
    ) {
      for (const { value } of args) if (value !== undefined) this.#assign(value, undefined, scope);
      if (name === 'unset') {
        this.#takesBack = true;
        scope.functions.clear();
      }
    } else if (declaring.has(name) && name !== 'export') {
      // From now on, setting one of them may fail, or make something else of the value.
      scope.hasDeclared = true;
      for (const { value = '' } of args) if (/^\w+$/.test(value)) this.#assign(value, undefined, scope);
    } else if (name === 'shopt' || name === 'trap') {
      // A trap runs later, with what is set by then.
      const isPlain =
        name === 'shopt'
          ? args.every(({ value }) => plainOptions.has(value ?? '…'))
          : args[0] === undefined || endsTrap.has(args[0].value ?? '…');
      if (!isPlain) this.doubt('code', [name, ...args.map(({ text }) => text)].join(' '));
    } else if (name === 'printf') {
      const at = args.findIndex(({ value }) => value === '-v');
      if (at >= 0) this.#assign(args[at + 1]?.value ?? '', undefined, scope);
    } else if (name === 'source' || name === '.' || name === 'eval') {
      // It may have set anything.
      scope.forget();
    }
  }

  #assign(name: string, value: string | undefined, scope: Scope, { isNumber = false } = {}): void {
    this.#checkVariable(name, value);
    scope.set(name, value, { isNumber });
  }

  #readTree(root: ReadWord, tree: TreeFilter, scope: Scope): void {
    for (const path of this.#resolveAll(root, scope) ?? []) {
      this.#trees.set(JSON.stringify([path, tree]), { path, ...tree });
    }
  }

  /** A variable for one program. Of those that only look, it is known which variables change nothing else. */
  #checkSetting(program: string, name: string, value: string | undefined): void {
    if (isPlainSetting(name, value)) return;
    if (isLooking(program.slice(program.lastIndexOf('/') + 1))) this.doubt('environment', `${name}=${value ?? '…'}`);
    else this.#checkVariable(name, value);
  }

  /** Some variables make every program afterwards do something else. */
  #checkVariable(name: string, value: string | undefined): void {
    if (tellingVariable.test(name) && !isPlainSetting(name, value))
      this.doubt('environment', `${name}=${value ?? '…'}`);
    // Where a number is wanted, the shell looks into values again, and runs what it finds there.
    if (hidden.test(name) || hidden.test(value ?? '')) this.doubt('code', `${name}=${value ?? '…'}`);
  }

  #readAssignment({ value, append, index }: Assignment, scope: Scope): Omit<ReadWord, 'text'> {
    if (index !== undefined) {
      this.#readWord(index, scope);
      if (mayHoldCode(index.text, scope)) this.doubt('code', index.text);
    }
    if (value.type === 'ArrayValue') {
      for (const element of value.elements) {
        this.#readWord(element, scope);
        if (element.text.startsWith('[') && mayHoldCode(element.text, scope)) this.doubt('code', element.text);
      }
      return {};
    }
    const read = this.#readWord(value, scope);
    return append === true || index !== undefined ? {} : read;
  }

  #readRedirects(redirects: readonly Redirection[], scope: Scope): void {
    for (const redirect of redirects) {
      if (redirect.type === 'HereDoc') {
        const { parts, text } = redirect.body;
        if (parts !== undefined) this.#readWord({ ...wordless, text, value: text, parts }, scope);
        continue;
      }
      if (redirect.target === undefined) {
        this.doubt('syntax', redirect.operator);
        continue;
      }
      const word = this.#readWord(redirect.target, scope);
      if (redirect.type === 'HereString') continue;
      const { operator } = redirect;
      if (operator.endsWith('&') && /^(\d+-?|-)$/.test(word.value ?? '')) continue;
      this.#claim({ word, access: operator === '<' || operator === '<&' ? 'read' : 'write' }, scope);
    }
  }

  #claim({ word, access }: { readonly word: ReadWord; readonly access: Access }, scope: Scope): void {
    if (word.value !== undefined && harmless.has(word.value)) return;
    if (word.isPattern === true) this.doubt('pattern', word.text);
    const paths = this.#resolveAll(word, scope);
    if (paths === undefined) return this.doubt(word.value === undefined ? 'word' : 'folder', word.text);
    for (const path of paths) this.#paths.set(`${access} ${path}`, { path, access });
  }

  /** Everything that the word may name. Of a pattern, the folder in which it begins. Undefined: it is not known. */
  #resolveAll({ value, isPattern }: ReadWord, { folders }: Scope): readonly string[] | undefined {
    if (value === undefined) return undefined;
    const fixed = isPattern === true ? beforePattern(value) : value;
    if (fixed.startsWith('/')) return [resolve(fixed)];
    return folders?.map((folder) => resolve(folder, fixed));
  }

  #noteHost(value: string): void {
    const [, authority = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(value) ?? [];
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    if (host !== '') this.#hosts.add(host.toLowerCase());
  }

  #readWord(word: Word, scope: Scope): ReadWord {
    const read = readWord(word, scope, this.#innerReader(scope));
    for (const name of scope.setInside) this.#checkVariable(name, undefined);
    for (const text of scope.evaluatedInside) this.doubt('code', text);
    return read;
  }

  #innerReader(scope: Scope) {
    return (script: ParsedScript | undefined, text: string): void => this.#readScript(script, text, scope.copy());
  }
}

const hidden = /\$\(|`/;
const evaluating = new Set([
  'test',
  '[',
  'let',
  'declare',
  'typeset',
  'local',
  'export',
  'readonly',
  'unset',
  'read',
  'printf',
]);
/** Comparisons of numbers, and questions about a variable. */
const evaluatingTests = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge', '-v', '-R']);
const declaring = new Set(['declare', 'typeset', 'local', 'export', 'readonly']);

const isNumeric = ({ value, isNumber }: ReadWord): boolean => isNumber === true || /^-?\d+$/.test(value ?? '');

/** The words of a command of the shell that it takes for names of variables or for numbers, and that may hold code. */
function findEvaluated(name: string, args: readonly ReadWord[], scope: Scope): readonly ReadWord[] {
  const unknown = args.filter((word) => word.value === undefined && !isNumeric(word));
  if (name === 'let') return args.filter(({ text }) => mayHoldCode(text, scope));
  if (name === 'read' || name === 'unset') return unknown;
  // A number, or another name for a variable: what is set later is looked into as well.
  if (declaring.has(name)) return args.filter(({ value = '' }) => /^[-+]\w*[in]/.test(value));
  if (name !== 'printf') return [];
  const [first, second] = args;
  if (first?.value === '-v') return unknown.filter((word) => word === second);
  return first?.value === undefined || /%[^a-zA-Z%]*n/.test(first.value)
    ? unknown.filter((word) => word !== first)
    : [];
}
/** What `trap` does with traps that are there. */
const endsTrap = new Set(['-', '', '-p', '-l']);
const special = new Set(
  ': . source break continue eval exec exit export readonly return set shift times trap unset'.split(' '),
);
const passingOn = new Set(['command', 'builtin']);
/** What a shell changes about itself. */
const changing = new Set([
  ...['cd', 'pushd', 'popd', 'set', 'shift', 'eval', 'source', '.', 'trap', 'shopt', 'enable', 'alias', 'let', 'wait'],
  ...[
    'export',
    'declare',
    'typeset',
    'local',
    'readonly',
    'unset',
    'read',
    'mapfile',
    'readarray',
    'getopts',
    'printf',
  ],
]);
/** Of `shopt`. Others let the last command of a pipeline set variables, or words mean other commands. */
const plainOptions = new Set(['-s', '-u', 'extglob', 'globstar', 'nullglob', 'dotglob', 'nocaseglob', 'failglob']);
const wordless = { type: 'Word', pos: 0, end: 0 } as const;
const harmless = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/stdin', '/dev/fd/63', '/dev/tty', '-']);
const tellingVariable =
  /^(PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|CDPATH|PROMPT_COMMAND|PS4|LD_\w+|DYLD_\w+|GIT_\w+|XDG_\w+|GCONV_PATH|LOCPATH|RIPGREP_CONFIG_PATH|EDITOR|VISUAL|PAGER|MANPAGER|LESSOPEN|LESSCLOSE|PERL5LIB|PERL5OPT|PYTHON(PATH|STARTUP|HOME)|NODE_OPTIONS|NODE_PATH|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|HOME|\w*_PROXY|\w*_proxy)$/;

function beforePattern(pattern: string): string {
  const fixed = pattern.slice(0, pattern.search(/[*?[{]|[@+!]\(/));
  return fixed.slice(0, fixed.lastIndexOf('/') + 1) || '.';
}

function joinFolders(one: Scope, other: Scope): readonly string[] | undefined {
  const joined = one.copy();
  joined.join(other);
  return joined.folders;
}

/** How many of its words are not those of the command that it starts. */
function ownWords(name: string, args: readonly ReadWord[], inner: readonly Inner[]): number {
  const [first] = inner;
  return name === 'find' || first?.command === undefined ? args.length : args.length - first.command.length;
}

function feeds({ type, operator }: Redirection): boolean {
  return type !== 'Redirect' || operator === '<' || operator === '<&' || operator === '<>';
}
