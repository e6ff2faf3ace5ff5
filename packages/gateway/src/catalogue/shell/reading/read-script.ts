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
import { claimArguments, isSilent } from './claim-arguments.ts';
import {
  declaring,
  evaluating,
  evaluatingTests,
  findEvaluated,
  hidden,
  isNumeric,
  mayHoldCode,
  wordsOf,
} from './evaluated.ts';
import { Findings } from './findings.ts';
import { findTree } from './find-tree.ts';
import { findInner } from './find-inner.ts';
import type { Inner } from './find-inner.ts';
import { readKnownArguments } from './known-options.ts';
import { readArithmetic, readWord } from './read-word.ts';
import { Scope } from './reading.ts';
import type { Reading, ReadWord } from './reading.ts';

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
    reader.found.doubt('syntax', 'the whole command');
  } else {
    reader.readText(text, new Scope([place.cwd], place.home));
  }
  return reader.found.finish();
}

class ScriptReader {
  readonly found = new Findings();
  #depth = 0;
  /** A function that is called may make names mean programs again. */
  #takesBack = false;

  readText(text: string, scope: Scope): void {
    this.#readScript(parse(text), text, scope);
  }

  #readScript(script: ParsedScript | undefined, text: string, scope: Scope): void {
    if (script === undefined || this.#depth >= deepest || this.found.commandCount > mostCommands) {
      return this.found.doubt('syntax', text);
    }
    if ((script.errors?.length ?? 0) > 0) this.found.doubt('syntax', text);
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
    for (const text of wordsOf(expression)) if (mayHoldCode(text, scope)) this.found.doubt('code', text);
  }

  #readTest(expression: object, scope: Scope): void {
    const looksIntoValues = evaluatingTests.has(String(Reflect.get(expression, 'operator')));
    for (const child of Object.values(expression) as unknown[]) {
      if (Array.isArray(child)) for (const each of child) this.#readTest(each as object, scope);
      else if (child !== null && typeof child === 'object') {
        if ('type' in child && child.type === 'Word') {
          const { value, text } = this.#readWord(child as Word, scope);
          if (value === undefined ? looksIntoValues && mayHoldCode(text, scope) : hidden.test(value))
            this.found.doubt('code', text);
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
        this.found.checkVariable(name, value);
        scope.set(name, mayFail ? undefined : value, { isNumber });
      }
      return;
    }
    // To `sh`, they are set for good.
    if (special.has(command.name.value)) for (const name of set.keys()) scope.set(name, undefined);
    // `IFS= read` is how lines are read; it lasts for that word alone.
    if (command.name.value !== 'read')
      for (const [name, { value }] of set) this.found.checkSetting(command.name.value, name, value);
    const words = [command.name, ...command.args].map((each) => {
      if (each.type === 'Word') return this.#readWord(each, scope);
      const { value, isNumber = false } = this.#readAssignment(each, scope);
      this.found.checkVariable(each.name, value);
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
    this.found.noteCommand(words);
    if (program.value === undefined || program.isPattern === true) return this.found.doubt('program', program.text);
    const name = program.value.slice(program.value.lastIndexOf('/') + 1);
    for (const { value, text, isPattern } of isSilent(name) ? [] : args) {
      if (value === undefined || isPattern === true) this.found.doubt(value === undefined ? 'word' : 'pattern', text);
    }
    if (name !== program.value) this.found.claim({ word: program, access: 'read' }, scope);
    if (evaluating.has(name)) {
      for (const { value, text } of args) if (value !== undefined && hidden.test(value)) this.found.doubt('code', text);
      for (const { text } of findEvaluated(name, args, scope)) this.found.doubt('code', text);
    }
    const inner = findInner(name, args, isFed);
    // The words of another command are claimed with that command.
    const own = inner.some(({ script }) => script !== undefined) ? [] : args.slice(0, ownWords(name, args, inner));
    for (const named of claimArguments(name, own)) this.found.claim(named, scope);
    for (const { text } of readKnownArguments(name, own)?.strange ?? []) this.found.doubt('option', text);
    const tree = findTree(name, own);
    if (tree !== undefined) for (const root of tree.roots) this.found.noteTree(root, tree.filter, scope);
    for (const { value } of args) this.found.noteHost(value ?? '');
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
      this.found.checkSetting(command?.[0]?.value ?? '', setting.slice(0, at), setting.slice(at + 1));
    }
    if (folder !== undefined) inside.folders = this.found.resolveAll(folder, scope);
    if (code !== undefined) this.found.doubt('code', code);
    if (script?.value !== undefined) this.readNested(script.value, inside);
    else if (script !== undefined) this.found.doubt('code', script.text);
    if (command === undefined) return;
    if (isOpen === true) this.found.doubt('word', command.map(({ text }) => text).join(' '));
    this.#readWords(command, inside, false);
  }

  readNested(text: string, scope: Scope): void {
    if (this.#depth >= deepest) return this.found.doubt('syntax', text);
    this.#depth++;
    this.readText(text, scope);
    this.#depth--;
  }

  /** What a command of the shell itself changes for those after it. */
  #change(name: string, args: readonly ReadWord[], scope: Scope): void {
    const [first] = args.filter(({ value }) => value === undefined || !/^-[LPe@]+$/.test(value));
    if (name === 'cd' || name === 'pushd') {
      if (first?.value === '-') scope.folders = undefined;
      else scope.folders = first === undefined ? [scope.home] : this.found.resolveAll(first, scope);
      if (scope.folders === undefined) this.found.doubt('folder', first?.text ?? name);
    } else if (name === 'popd') {
      scope.folders = undefined;
      this.found.doubt('folder', name);
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
      if (!isPlain) this.found.doubt('code', [name, ...args.map(({ text }) => text)].join(' '));
    } else if (name === 'printf') {
      const at = args.findIndex(({ value }) => value === '-v');
      if (at >= 0) this.#assign(args[at + 1]?.value ?? '', undefined, scope);
    } else if (name === 'source' || name === '.' || name === 'eval') {
      // It may have set anything.
      scope.forget();
    }
  }

  #assign(name: string, value: string | undefined, scope: Scope, { isNumber = false } = {}): void {
    this.found.checkVariable(name, value);
    scope.set(name, value, { isNumber });
  }

  #readAssignment({ value, append, index }: Assignment, scope: Scope): Omit<ReadWord, 'text'> {
    if (index !== undefined) {
      this.#readWord(index, scope);
      if (mayHoldCode(index.text, scope)) this.found.doubt('code', index.text);
    }
    if (value.type === 'ArrayValue') {
      for (const element of value.elements) {
        this.#readWord(element, scope);
        if (element.text.startsWith('[') && mayHoldCode(element.text, scope)) this.found.doubt('code', element.text);
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
        this.found.doubt('syntax', redirect.operator);
        continue;
      }
      const word = this.#readWord(redirect.target, scope);
      if (redirect.type === 'HereString') continue;
      const { operator } = redirect;
      if (operator.endsWith('&') && /^(\d+-?|-)$/.test(word.value ?? '')) continue;
      this.found.claim({ word, access: operator === '<' || operator === '<&' ? 'read' : 'write' }, scope);
    }
  }

  #readWord(word: Word, scope: Scope): ReadWord {
    const read = readWord(word, scope, this.#innerReader(scope));
    for (const name of scope.setInside) this.found.checkVariable(name, undefined);
    for (const text of scope.evaluatedInside) this.found.doubt('code', text);
    return read;
  }

  #innerReader(scope: Scope) {
    return (script: ParsedScript | undefined, text: string): void => this.#readScript(script, text, scope.copy());
  }
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
