import type { ReadWord } from './reading.ts';

/** The options of a program that only change how it looks at things and what it prints. All others are in doubt. */
interface Known {
  /** Single letters. */
  readonly letters?: string;
  /** Single letters that are followed by a value, in the same word or as the next. */
  readonly valued?: string;
  /** Single letters whose value, if they have one, is the rest of the word. */
  readonly attached?: string;
  /**
   * Long names; those with `=` take a value, in the same word or as the next. Programs of GNU also take the beginning of a
   * name, which is in doubt here.
   */
  readonly names?: string;
}

const matching =
  'count quiet null text line-number with-filename no-filename only-matching invert-match word-regexp line-regexp ignore-case fixed-strings regexp= max-count= after-context= before-context= context= no-messages';
const gitLooks =
  'oneline stat numstat shortstat dirstat summary compact-summary patch no-patch patch-with-stat raw name-only name-status cached staged merge-base color no-color word-diff word-diff-regex color-words color-moved no-color-moved minimal patience histogram diff-algorithm unified check full-index binary abbrev find-renames no-renames find-copies find-copies-harder diff-filter pickaxe-all pickaxe-regex ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines ignore-cr-at-eol inter-hunk-context function-context exit-code quiet no-ext-diff no-textconv ignore-submodules submodule src-prefix dst-prefix no-prefix text follow decorate no-decorate source graph no-graph max-count skip since after until before author committer grep all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp merges no-merges first-parent all branches tags remotes glob exclude reverse date format pretty abbrev-commit no-abbrev-commit relative-date parents children left-right cherry-pick cherry-mark cherry topo-order date-order author-date-order boundary simplify-by-decoration full-history no-walk relative notes no-notes line-prefix ws-error-highlight';
const gitLetters = { letters: 'pusqzRabwDmcitEFP', valued: 'nGSL', attached: 'UMCl' };

const ofGit: Readonly<Record<string, Known>> = {
  add: { letters: 'AunvfN', names: 'all no-all update dry-run verbose force intent-to-add refresh ignore-errors' },
  branch: {
    letters: 'avril',
    names:
      'list all remotes verbose show-current merged no-merged contains no-contains points-at sort format color no-color column no-column ignore-case abbrev no-abbrev',
  },
  log: { ...gitLetters, names: gitLooks },
  diff: { ...gitLetters, names: gitLooks },
  show: { ...gitLetters, names: gitLooks },
  blame: {
    letters: 'ltsewcfnp',
    valued: 'L',
    attached: 'MC',
    names: 'line-porcelain porcelain show-email root show-stats date',
  },
  status: {
    letters: 'sbvuz',
    names:
      'short branch porcelain long verbose untracked-files ignored ahead-behind no-ahead-behind renames no-renames show-stash null column no-column',
  },
  'ls-files': {
    letters: 'cdmostuvzkrf',
    names:
      'cached deleted modified others ignored stage unmerged killed directory no-empty-directory exclude exclude-standard error-unmatch full-name eol deduplicate format abbrev',
  },
  'rev-parse': {
    letters: 'q',
    names:
      'abbrev-ref short verify quiet show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository symbolic symbolic-full-name all branches tags remotes',
  },
};

const grep: Known = {
  letters: 'EFGPaivwxcLloqsbHhnTZzrRUI',
  valued: 'eABCmdD',
  names: `${matching} color colour silent recursive extended-regexp basic-regexp perl-regexp no-ignore-case files-without-match files-with-matches byte-offset label= initial-tab null-data binary-files= exclude= exclude-dir= include= line-buffered binary directories= devices= dereference-recursive`,
};

const ofPrograms: Readonly<Record<string, Known>> = {
  ...{ grep, egrep: grep, fgrep: grep },
  rg: {
    letters: 'iSsvwxcloqnNhHaUFPpuL.0I',
    valued: 'eABCmgtTjMrdE',
    names: `${matching} smart-case case-sensitive count-matches files-with-matches files-without-match no-line-number multiline multiline-dotall pcre2 pretty unrestricted hidden no-hidden no-ignore no-ignore-vcs no-ignore-dot no-ignore-parent no-config follow glob= iglob= type= type-not= threads= max-columns= max-depth= max-filesize= replace= encoding= color= colors= heading no-heading column no-column sort= sortr= stats json files type-list vimgrep trim passthru crlf engine=`,
  },
  cat: {
    letters: 'AbeEnstTuv',
    names: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
  },
  head: { letters: 'qvz', valued: 'nc', names: 'lines= bytes= quiet silent verbose zero-terminated' },
  tail: {
    letters: 'fFqvzr',
    valued: 'ncs',
    names: 'lines= bytes= follow quiet silent verbose retry sleep-interval= zero-terminated',
  },
  wc: { letters: 'clmLw', names: 'bytes chars lines max-line-length words total=' },
  sort: {
    letters: 'bdfghiMnrRVcCmsuz',
    valued: 'ktS',
    names:
      'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse sort= version-sort check merge key= field-separator= buffer-size= stable unique zero-terminated parallel=',
  },
  uniq: {
    letters: 'cdDiuz',
    valued: 'fsw',
    names: 'count repeated all-repeated skip-fields= group ignore-case skip-chars= unique zero-terminated check-chars=',
  },
  cut: {
    letters: 'nsz',
    valued: 'bcfd',
    names: 'bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated',
  },
  tr: { letters: 'cCdst', names: 'complement delete squeeze-repeats truncate-set1' },
  comm: { letters: '123z', names: 'check-order nocheck-order output-delimiter= total zero-terminated' },
  cmp: { letters: 'bls', valued: 'in', names: 'print-bytes ignore-initial= verbose bytes= quiet silent' },
  column: { letters: 'tx', valued: 'sc', names: 'table separator= output-width=' },
  diff: {
    letters: 'qsrNTtdiEZbwBaupclyn',
    valued: 'UCWxIFL',
    names:
      'brief report-identical-files context unified side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab recursive no-dereference new-file exclude= ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr minimal color normal',
  },
  du: {
    letters: '0abcDHhklLmPSsx',
    valued: 'Bdt',
    names:
      'apparent-size all block-size= bytes total max-depth= human-readable inodes dereference no-dereference separate-dirs si summarize threshold= time time-style= exclude= one-file-system null count-links',
  },
  file: {
    letters: 'bihkLNnprsvz0E',
    valued: 'F',
    names: 'brief mime mime-type mime-encoding extension keep-going dereference no-dereference raw separator=',
  },
  tree: {
    letters: 'adfilxqNQpugshDFrtcUvACSnJX',
    valued: 'LPI',
    names:
      'noreport charset filelimit gitignore dirsfirst filesfirst sort inodes prune matchdirs ignore-case timefmt si du',
  },
  touch: { letters: 'acm', valued: 'dt', names: 'no-create date=' },
  mkdir: { letters: 'pv', valued: 'm', names: 'parents verbose mode=' },
  date: {
    letters: 'uR',
    valued: 'd',
    attached: 'I',
    names: 'date= iso-8601 rfc-email rfc-2822 rfc-3339= utc universal',
  },
  jq: {
    letters: 'rRnceSsCMaj',
    names:
      'raw-output raw-input null-input compact-output exit-status sort-keys slurp color-output monochrome-output ascii-output join-output tab indent arg argjson args jsonargs stream seq unbuffered',
  },
};

const findTests =
  /^-(i?name|i?path|i?wholename|i?regex|regextype|x?type|(max|min)depth|[acm](time|min)|newer([aBcm][aBcmt])?|size|empty|perm|user|group|uid|gid|links|inum|samefile|readable|writable|executable|print0?|printf|ls|prune|quit|depth|mount|xdev|follow|daystart|not|and|or|a|o|true|false|[LHP]|exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$/;
/** Parts of a program of jq that reach beyond its input. */
const jqReaches = /(?<![.\w])(?:import|include|modulemeta|env|input_filename|get_search_list)\b|\$ENV|\$__prog/;

/** Whatever they are told, they look, compute or say something. */
const harmless = new Set(
  'ls basename dirname pwd readlink realpath stat which whoami uname type test [ echo printf sleep true false cd'.split(
    ' ',
  ),
);

/** Whether the program only looks, as long as its options are known. */
export function isLooking(name: string): boolean {
  return harmless.has(name) || name === 'git' || name === 'find' || Object.hasOwn(ofPrograms, name);
}

const plainVariables =
  /^(?:LC_\w+|LANG|LANGUAGE|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CI|GREP_COLORS?|LS_COLORS)$/;
const pagers = /^(?:GIT_PAGER|PAGER|MANPAGER)$/;

/** Whether a variable that is set for a program changes at most how it looks. */
export function isPlainSetting(name: string, value: string | undefined): boolean {
  if (value === undefined) return false;
  if (pagers.test(name)) return value === 'cat' || value === '';
  return plainVariables.test(name) && /^[\w.@=;,:-]*$/.test(value);
}

/** The arguments of a program, told apart. */
export interface ReadArguments {
  /** Words whose meaning is not known, of a program that otherwise only looks. */
  readonly strange: readonly ReadWord[];
  /** Words that are neither options nor their values. */
  readonly named: readonly ReadWord[];
  /** Letters and names of the options. */
  readonly options: ReadonlySet<string>;
  /** By option, as often as it is given. */
  readonly values: readonly (readonly [option: string, value: string | undefined])[];
}

/** Undefined for programs that are not known here. */
export function readKnownArguments(name: string, args: readonly ReadWord[]): ReadArguments | undefined {
  if (name === 'find') {
    const strange = args.filter(({ value = '' }) => /^-\w/.test(value) && !findTests.test(value));
    return { strange, named: [], options: new Set(), values: [] };
  }
  if (name === 'git') return readGit(args);
  const known = Object.hasOwn(ofPrograms, name) ? ofPrograms[name] : undefined;
  if (known === undefined) return undefined;
  const read = tellApart(known, args);
  const reaching = name === 'jq' ? args.filter(({ value = '' }) => jqReaches.test(value)) : [];
  return { ...read, strange: [...read.strange, ...reaching] };
}

function readGit(args: readonly ReadWord[]): ReadArguments | undefined {
  const at = args.findIndex(({ value = '' }, index) => !value.startsWith('-') && args[index - 1]?.value !== '-C');
  const command = args[at]?.value ?? '';
  const known = Object.hasOwn(ofGit, command) ? ofGit[command] : undefined;
  if (known === undefined) return undefined;
  const isGeneral = ({ value = '' }: ReadWord): boolean => value.startsWith('-') && !/^(--no-pager|-C.*)$/s.test(value);
  const read = tellApart(known, args.slice(at + 1));
  return { ...read, strange: [...args.slice(0, at).filter(isGeneral), ...read.strange] };
}

function tellApart(known: Known, args: readonly ReadWord[]): ReadArguments {
  const names = new Set((known.names ?? '').split(' '));
  const strange: ReadWord[] = [];
  const named: ReadWord[] = [];
  const options = new Set<string>();
  const values: [string, string | undefined][] = [];
  let expecting: string | undefined;
  let isOver = false;
  for (const word of args) {
    const { value } = word;
    if (expecting !== undefined) {
      values.push([expecting, value]);
      expecting = undefined;
    } else if (isOver || value === undefined || !value.startsWith('-') || value === '-') {
      named.push(word);
    } else if (value === '--') {
      isOver = true;
    } else if (value.startsWith('--')) {
      const [, name = '', given] = /^--([^=]*)(?:=(.*))?$/s.exec(value) ?? [];
      options.add(name);
      if (given !== undefined) values.push([name, given]);
      if (names.has(`${name}=`)) expecting = given === undefined ? name : undefined;
      else if (!names.has(name)) strange.push(word);
    } else if (!/^-\d+$/.test(value)) {
      expecting = readLetters(value.slice(1), known, { options, values, onStrange: () => strange.push(word) });
    }
  }
  return { strange, named, options, values };
}

/** Returns the letter whose value is the next word. */
function readLetters(
  cluster: string,
  { letters = '', valued = '', attached = '' }: Known,
  into: { options: Set<string>; values: [string, string | undefined][]; onStrange: () => void },
): string | undefined {
  for (const [at, letter] of [...cluster].entries()) {
    into.options.add(letter);
    if (letters.includes(letter)) continue;
    if (attached.includes(letter)) return undefined;
    if (!valued.includes(letter)) {
      into.onStrange();
      return undefined;
    }
    const rest = cluster.slice(at + 1);
    if (rest !== '') into.values.push([letter, rest]);
    return rest === '' ? letter : undefined;
  }
  return undefined;
}
