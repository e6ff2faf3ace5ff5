import type { Access } from '@sallyport/sandbox';
import { readKnownArguments } from './known-options.ts';
import type { ReadWord } from './reading.ts';

/** An argument that names a file or a folder. */
export interface NamedPath {
  readonly word: ReadWord;
  readonly access: Access;
}

/**
 * Which arguments of a program are files, and what becomes of them. Of programs that are not known here, what looks like a
 * path counts as read: what they do with it is up to the rule about the program.
 */
export function claimArguments(name: string, args: readonly ReadWord[]): readonly NamedPath[] {
  const outputs = findOutputs(name, args);
  const end = args.findIndex(({ value }) => value === '--');
  const named = args.filter((word, at) => {
    if (end >= 0 && at > end) return true;
    return (
      !outputs.has(word) && !isOption(word) && !(isValue(name, args[at - 1], word) && !afterFirstWriters.has(name))
    );
  });
  const written = [...outputs].map((word): NamedPath => ({ word, access: 'write' }));
  return [...written, ...claimNamed(name, args, named), ...claimInOptions(name, args)];
}

function claimNamed(name: string, args: readonly ReadWord[], named: readonly ReadWord[]): readonly NamedPath[] {
  const claim = (words: readonly ReadWord[], access: Access): readonly NamedPath[] =>
    words.map((word) => ({ word, access }));
  const has = (option: RegExp): boolean => args.some(({ value }) => value !== undefined && option.test(value));
  switch (true) {
    case writers.has(name):
      return claim(named, 'write');
    case afterFirstWriters.has(name):
      return claim(named.slice(1), 'write');
    case name === 'mv':
      return claim(named, 'write');
    case copiers.has(name) && has(/^(-t|--target-directory)/):
      return [...claim(named.slice(0, 1), 'write'), ...claim(named.slice(1), 'read')];
    case copiers.has(name):
      return [...claim(named.slice(0, -1), 'read'), ...claim(named.slice(-1), 'write')];
    case name === 'sed' || name === 'perl':
      return claim(
        named.slice(has(name === 'sed' ? /^(-[a-zA-Z]*[ef]|--e|--f)/ : /^(-e|-f|--expression|--file)/) ? 0 : 1),
        has(/^(-[a-zA-Z]*i|--in-place)/) ? 'write' : 'read',
      );
    case afterFirstReaders.has(name):
      // The first word is the pattern, unless an option may have brought one.
      return claim(named.slice(has(/^-[a-zA-Z]*[ef]|^--(r|f)/) ? 0 : 1), 'read');
    case secondWriters.has(name):
      return [...claim(named.slice(0, 1), 'read'), ...claim(named.slice(1), 'write')];
    case name === 'find':
      return [
        ...claim(startsOf(args), has(/^-(delete|fprint|fprintf|fls)/) ? 'write' : 'read'),
        ...claim(after(args, /^-(fprint0?|fprintf|fls)$/), 'write'),
        ...claim(after(args, /^-files0-from$/), 'read'),
      ];
    case name === 'date':
      return claim(after(args, /^(-[a-zA-Z]*[fr]|--[fr][a-z]*)$/), 'read');
    case name === 'dd':
      return named.flatMap(({ text, value }) => {
        const [, which, path] = /^(if|of)=(.*)$/s.exec(value ?? '') ?? [];
        return path === undefined ? [] : [{ word: { text, value: path }, access: which === 'of' ? 'write' : 'read' }];
      });
    case name === 'git' && gitReaders.has(gitCommandOf(args)):
      return claim([...findGitFiles(args, named), ...linesOf(args)], 'read');
    case readers.has(name):
      return claim(named, 'read');
    case silent.has(name):
      return [];
    default:
      return claim(named.map((word) => insideWord(name, word)).filter(looksLikePath), 'read');
  }
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** The word of git that says what it does. */
function gitCommandOf(args: readonly ReadWord[]): string {
  const at = args.findIndex(({ value = '' }, index) => !value.startsWith('-') && args[index - 1]?.value !== '-C');
  return args[at]?.value ?? '';
}

/** Of these, every word may be a file. One that names a revision, as git writes them, is not a file. */
const gitReaders = words('add blame diff log show');
const revision = /^(?:(?:[A-Z_]*HEAD|@|main|master|develop)(?:[~^@].*)?|[0-9a-f]{7,40}(?:[~^].*)?|.*\.\..*)$/s;

function findGitFiles(args: readonly ReadWord[], named: readonly ReadWord[]): readonly ReadWord[] {
  const inside = (word: ReadWord): ReadWord => insideWord('git', word);
  const files = (readKnownArguments('git', args)?.named ?? []).map(inside);
  return [...named.map(inside).filter(looksLikePath), ...files.filter(({ value = '' }) => !revision.test(value))];
}

/** `-L1,5:FILE` */
function linesOf(args: readonly ReadWord[]): readonly ReadWord[] {
  return args.flatMap(({ text, value = '' }, at) => {
    const given = args[at - 1]?.value === '-L' ? value : /^-L(.+)$/s.exec(value)?.[1];
    const file = given === undefined ? undefined : /:([^:]+)$/s.exec(given)?.[1];
    return file === undefined ? [] : [{ text, value: file }];
  });
}

/** `@FILE` of curl, `REVISION:FILE` of git, `NAME=FILE` of anything. */
function insideWord(name: string, word: ReadWord): ReadWord {
  const ofGit = /^[^/:]*:(?:[0-3]:)?([^/].*)$/s;
  const pattern = name === 'curl' ? /^(?:[\w-]+=)?@(.+)$/s : name === 'git' ? ofGit : /^\w+=(.+)$/s;
  const value = pattern.exec(word.value ?? '')?.[1];
  return value === undefined ? word : { ...word, value };
}

const writers = words('rm rmdir touch mkdir tee truncate shred unlink mkfifo srm wipe gzip gunzip bzip2 xz unxz patch');
const afterFirstWriters = words('chmod chown chgrp setfacl chattr');
/** Their second word is what they make of the first. */
const secondWriters = words('uniq xxd');
const copiers = words('cp install rsync scp ln');
const readers = words(
  'cat head tail less more wc sort diff cmp comm file stat ls tree du bat nl od hexdump strings md5sum sha1sum sha256sum sha512sum b2sum cksum base64 readlink realpath cut paste column tac rev fold split cd pushd source . zcat zless bzcat xzcat view dirname basename',
);
const afterFirstReaders = words('grep egrep fgrep rg ag ack zgrep awk gawk mawk jq yq');
/** Their words are text for people, names and numbers. */
const silent = words(
  'echo printf true false exit return export unset local declare readonly typeset set shift read kill sleep wait jobs bg fg whoami id uname hostname which type hash : let break continue ulimit umask alias unalias trap eval getopts seq yes expr ssh su',
);

/** Whether it does nothing with its words but to say or keep them. */
export function isSilent(name: string): boolean {
  return silent.has(name);
}

/** Their `-e` brings a script, a pattern or a command. That of others, such as `cat`, stands alone. */
const takesScripts = words('rsync sed perl grep egrep fgrep rg ag ack zgrep nc');

/** A number after an option, or a script: no file. */
function isValue(name: string, before: ReadWord | undefined, { value }: ReadWord): boolean {
  if (before?.value === undefined || !isOption(before)) return false;
  if (/^\+?\d+[kKmMgG]?$/.test(value ?? '') || isFilter(before.value)) return true;
  return takesScripts.has(name) && /^(-e|--expression|--regexp)$/.test(before.value);
}

/** Its value says which names count, and is no file itself. */
function isFilter(option: string): boolean {
  return /^--((in|ex)clude(-dir)?|i?glob|format|pretty|label)=?$/.test(option);
}

function isOption({ value }: ReadWord): boolean {
  return value !== undefined && value.startsWith('-') && value !== '-';
}

function looksLikePath({ value, text }: ReadWord): boolean {
  const shown = value ?? text;
  return (
    !/^[a-z][a-z0-9+.-]*:\/\//i.test(shown) &&
    (/[/\\]/.test(shown) || /^[.~]/.test(shown) || /\.(env|pem|key)$/.test(shown))
  );
}

/** Their `-o` means something else. */
const withoutOutput = words('grep egrep fgrep rg unzip ssh scp ps ls mount set find');

/** `-oFILE`, in one word. */
const attachedOutput = words('sort tree gcc g++ cc clang curl');

/** Where `-o`, `--output` and the like send what a program makes. */
function findOutputs(name: string, args: readonly ReadWord[]): ReadonlySet<ReadWord> {
  const outputs = new Set<ReadWord>();
  if (withoutOutput.has(name)) return outputs;
  for (const [at, { value }] of args.entries()) {
    const next = args[at + 1];
    if (
      next !== undefined &&
      value !== undefined &&
      /^(-o|-O|--out(put|file|-file|dir|-dir|put-document)?|-out)$/.test(value) &&
      !isOption(next)
    ) {
      outputs.add(next);
    }
  }
  return outputs;
}

/** `--file=PATH`, `-C/path`. */
function claimInOptions(name: string, args: readonly ReadWord[]): readonly NamedPath[] {
  return args.flatMap((word) => {
    const [, option = '', value] = /^(--[\w-]+=|-[A-Za-z](?=[./~])|-o)(.+)$/s.exec(word.value ?? '') ?? [];
    const isOutput = option === '-o' ? attachedOutput.has(name) : /^(--ou|-o)/.test(option) && !withoutOutput.has(name);
    if (value === undefined || isFilter(option) || !(isOutput || looksLikePath({ text: value, value }))) return [];
    return [{ word: { ...word, value }, access: isOutput ? ('write' as const) : ('read' as const) }];
  });
}

/** The words that follow such an option. */
function after(args: readonly ReadWord[], option: RegExp): readonly ReadWord[] {
  return args.filter((_, at) => option.test(args[at - 1]?.value ?? ''));
}

/** The folders where `find` begins stand before its first test. */
function startsOf(args: readonly ReadWord[]): readonly ReadWord[] {
  const end = args.findIndex(
    ({ value }, at) => value !== undefined && /^[-(!]/.test(value) && !(at === 0 && /^-[HLP]$/.test(value)),
  );
  const starts = (end < 0 ? args : args.slice(0, end)).filter((word) => !isOption(word));
  return starts.length > 0 ? starts : [{ text: '.', value: '.' }];
}
