import type { ReadWord } from './reading.ts';

/** What a program would start, by its arguments. */
export interface Inner {
  /** The words of another command. */
  readonly command?: readonly ReadWord[];
  /** Whether more words are added to them that are not known. */
  readonly isOpen?: boolean;
  /** A script for a shell. */
  readonly script?: ReadWord;
  /** Code in another language, or from somewhere else. */
  readonly code?: string;
  /** Variables that are set for it, each with its value. */
  readonly environment?: readonly string[];
  /** Where it runs. */
  readonly folder?: ReadWord;
}

/** Everything that this program would start. Empty: it is not known for starting others. */
export function findInner(name: string, args: readonly ReadWord[], isFed: boolean): readonly Inner[] {
  const skip = wrappers.get(name);
  if (skip !== undefined) return unwrap(args, skip);
  return finders.get(name)?.(args, isFed) ?? [];
}

/** Options that take a value of their own, and how many words come before the command. */
interface Skipping {
  readonly valued: string;
  readonly words?: number;
  readonly folderOption?: string;
  readonly scriptOption?: string;
  readonly isOpen?: boolean;
}

// Programs whose arguments are another command, after options of their own.
const wrappers = new Map<string, Skipping>(
  Object.entries({
    sudo: { valued: '-u -g -h -p -C -T -D -R -U -r -t --user --group --chdir --chroot', folderOption: '-D' },
    doas: { valued: '-u -C' },
    env: { valued: '-u --unset -C --chdir', folderOption: '-C', scriptOption: '-S' },
    nice: { valued: '-n --adjustment' },
    ionice: { valued: '-c -n -p -P -u --class --classdata' },
    chrt: { valued: '-T -P -D', words: 1 },
    taskset: { valued: '', words: 1 },
    nohup: { valued: '' },
    setsid: { valued: '' },
    stdbuf: { valued: '-i -o -e' },
    time: { valued: '-f -o --format --output' },
    timeout: { valued: '-s -k --signal --kill-after', words: 1 },
    builtin: { valued: '' },
    exec: { valued: '-a' },
    strace: { valued: '-e -o -p -s -u -E' },
    xargs: { valued: '-I -n -P -L -s -d -E -a --max-args --max-procs --replace --delimiter --arg-file', isOpen: true },
    'xvfb-run': { valued: '-n -e -f -p -s -w' },
    unshare: { valued: '' },
    chroot: { valued: '', words: 1 },
    'systemd-run': { valued: '-p -u -E --property --unit --setenv' },
    busybox: { valued: '' },
    npx: { valued: '-p --package -c --call', scriptOption: '-c' },
  }),
);

function unwrap(args: readonly ReadWord[], skipping: Skipping): readonly Inner[] {
  const { valued, words = 0, folderOption, scriptOption, isOpen } = skipping;
  const takesValue = new Set(valued.split(' '));
  let folder: ReadWord | undefined;
  const environment: string[] = [];
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at]?.value;
    if (word === undefined) break;
    if (word === '--') {
      at++;
      break;
    }
    const isAssignment = /^[A-Za-z_]\w*=/.test(word);
    if (!word.startsWith('-') && !isAssignment) break;
    if (isAssignment) environment.push(word);
    if (scriptOption !== undefined && word.startsWith(scriptOption)) {
      return [{ script: word === scriptOption ? (args[at + 1] ?? unknownWord(word)) : unknownWord(word) }];
    }
    if (!takesValue.has(word)) continue;
    if (word === folderOption || word === '--chdir') folder = args[at + 1];
    at++;
  }
  const command = args.slice(at + words);
  if (command.length === 0) return [];
  return [
    { command, environment, ...(isOpen === true ? { isOpen } : {}), ...(folder === undefined ? {} : { folder }) },
  ];
}

function unknownWord(text: string): ReadWord {
  return { text };
}

type Finder = (args: readonly ReadWord[], isFed: boolean) => readonly Inner[];

const shell: Finder = (args, isFed) => {
  for (const [at, { value }] of args.entries()) {
    if (value === undefined) return [{ code: args[at]?.text ?? '' }];
    if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(value)) return [{ script: args[at + 1] ?? unknownWord(value) }];
    if (value.startsWith('/dev/')) return [{ code: args[at]?.text ?? '' }];
    // A script in a file is a program like any other.
    if (!value.startsWith('-') && !value.startsWith('+')) return [];
    if (value === '-s' || value === '-') break;
  }
  return isFed ? standardInput : [];
};

/** Interpreters that take code as an argument, by the options that bring it. */
function interpreter(options: RegExp): Finder {
  return (args, isFed) => {
    const at = args.findIndex(({ value }) => value === undefined || options.test(value));
    if (at >= 0) return [{ code: args[at + 1]?.text ?? args[at]?.text ?? '' }];
    const fromElsewhere = args.find(({ value }) => value?.startsWith('/dev/'));
    if (fromElsewhere !== undefined) return [{ code: fromElsewhere.text }];
    const hasFile = args.some(({ value }) => value !== undefined && !value.startsWith('-'));
    return !hasFile && isFed ? standardInput : [];
  };
}

const find: Finder = (args) => {
  const found: Inner[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(args[at]?.value ?? '')) continue;
    const rest = args.slice(at + 1);
    const end = rest.findIndex(({ value }) => value === ';' || value === '+');
    found.push({ command: end < 0 ? rest : rest.slice(0, end), isOpen: true });
  }
  return found;
};

const evaluate: Finder = (args) => {
  const known = args.map(({ value, isPattern }) => (isPattern === true ? undefined : value));
  if (args.length === 0) return [];
  const text = args.map((word) => word.text).join(' ');
  return [{ script: known.includes(undefined) ? unknownWord(text) : { text, value: known.join(' ') } }];
};

/** Its code starts programs, opens files, and reads the environment by these words; options other than these bring code. */
const awkReaches = /system|getline|ENVIRON|ARG[CV]|[|>@]|^-(?![Fv])/;
const awk: Finder = (args) => {
  const code = args.find(({ value }) => value === undefined || awkReaches.test(value));
  return code === undefined ? [] : [{ code: code.text }];
};

/** Commands and flags of sed that start a program, or read or write a file. Words of a pattern may look like them, too. */
const sedReaches = /(^|\n\s*|[^A-Za-z_\s]\s*)[eWwRr]|[^A-Za-z_\s][gIiMmp\d]+[ewr]/;
/** Long options may be shortened, so only these are known for what they are. */
const plainSedOption =
  /^--(quiet|silent|regexp-extended|null-data|zero-terminated|posix|sandbox|separate|unbuffered|debug|help|version)$|^--(expression|in-place|line-length)(=|$)/;
const sed: Finder = (args) => {
  const isOption = ({ value }: ReadWord): boolean => value?.startsWith('-') === true && value !== '-';
  const attached = args.flatMap((word) => {
    const script = /^(?:-[a-zA-Z]*?e|--expression=)(.+)$/s.exec(word.value ?? '')?.[1];
    return script === undefined ? [] : [{ text: word.text, value: script }];
  });
  const given = args.filter((_, at) => /^(-[a-zA-Z]*e|--expression)$/.test(args[at - 1]?.value ?? ''));
  const scripts = [...attached, ...given];
  const first = args.find((word) => !isOption(word));
  const read = scripts.length > 0 || first === undefined ? scripts : [first];
  const others = args.filter(
    ({ value = '' }) => /^-[a-zA-Z]*f/.test(value) || (value.startsWith('--') && !plainSedOption.test(value)),
  );
  const reaching = read.filter(({ value }) => value !== undefined && sedReaches.test(value));
  return [...reaching, ...others].map(({ text }) => ({ code: text }));
};

/** Runs the value of an option. */
function byOption(options: RegExp): Finder {
  return (args) =>
    args.flatMap(({ value, text }, at) =>
      value !== undefined && options.test(value)
        ? [{ code: value.includes('=') ? text : (args[at + 1]?.text ?? text) }]
        : [],
    );
}

const shells = Object.fromEntries(
  'sh bash dash zsh ksh ash rbash fish'.split(' ').map((name): [string, Finder] => [name, shell]),
);
const pythons = interpreter(/^-[a-zA-Z]*c/);
const standardInput = [{ code: 'what it reads from standard input' }];
const finders = new Map<string, Finder>(
  Object.entries<Finder>({
    ...shells,
    ...{ python: pythons, python2: pythons, python3: pythons },
    ...{ node: interpreter(/^(-[ep]+|--eval|--print)/), deno: interpreter(/^eval$/), bun: interpreter(/^(-e|--eval)/) },
    ...{ perl: interpreter(/^-[a-zA-Z]*[eE]/), ruby: interpreter(/^-[a-zA-Z]*e/) },
    ...{ php: interpreter(/^-r/), lua: interpreter(/^-e/) },
    ...{ awk, gawk: awk, mawk: awk, nawk: awk },
    ...{ find, eval: evaluate },
    fd: (args) =>
      find(
        args.map((word) => (fdRuns.test(word.value ?? '') ? { ...word, value: '-exec' } : word)),
        false,
      ),
    sed,
    command: (args) => (/^-[a-zA-Z]*[vV]/.test(args[0]?.value ?? '') ? [] : unwrap(args, { valued: '' })),
    trap: ([first, ...more]) => {
      const isScript = more.length > 0 && first !== undefined && first.value !== '-' && first.value !== '';
      return isScript ? [{ script: first }] : [];
    },
    ...{ source: ([file]) => [{ code: file?.text ?? '' }], '.': ([file]) => [{ code: file?.text ?? '' }] },
    alias: (args) => args.filter(({ text }) => text.includes('=')).map(({ text }) => ({ code: text })),
    watch: (args) =>
      unwrap(args, { valued: '-n -d --interval' }).flatMap(({ command = [] }) => evaluate(command, false)),
    su: (args) => {
      const at = args.findIndex(({ value }) => value === '-c' || value === '--command');
      return at < 0 ? [] : [{ script: args[at + 1] ?? unknownWord('-c') }];
    },
    script: byOption(/^-[a-zA-Z]*c$|^--command/),
    ssh: (args) => {
      const [host, ...remote] = unwrap(args, { valued: sshValued }).flatMap(({ command = [] }) => command);
      const code = remote.length > 0 && host !== undefined ? [{ code: remote.map(({ text }) => text).join(' ') }] : [];
      return [...code, ...byOption(/^-o$/)(args, false), ...byOption(/^-oProxyCommand=/i)(args, false)];
    },
    flock: (args) => {
      const at = args.findIndex(({ value }) => value === '-c' || value === '--command');
      return at < 0 ? unwrap(args, { valued: '-w -E', words: 1 }) : [{ script: args[at + 1] ?? unknownWord('-c') }];
    },
    ...{ rg: byOption(/^(--pre|--hostname-bin)(=|$)/), sort: byOption(/^--co/) },
    ...{ hash: byOption(/^-p/), enable: byOption(/^-f/) },
    parallel: (args) => unwrap(args, { valued: '-j -n -a -I --jobs', isOpen: true }),
    ...{
      nc: byOption(/^-[a-z]*[ec]$/),
      ncat: byOption(/^(-[a-z]*[ec]|--exec|--sh-exec)$/),
      socat: byOption(/exec|system/i),
    },
    tar: byOption(/^(--to-command|--checkpoint-action|-I$|--use-compress-program|--rsh-command|-F$|--info-script)/),
    rsync: byOption(/^(-e$|--rsh)/),
    git: byOption(/^(--upl|--rece|--exec|-x$|--ext|--op|-O|-c$|bisect$)/),
    ...{
      vim: byOption(/^(-c|--cmd|-S|\+)/),
      vi: byOption(/^(-c|-S|\+)/),
      ed: (_, isFed) => (isFed ? standardInput : []),
    },
    ...{ mapfile: byOption(/^-[a-zA-Z]*C/), readarray: byOption(/^-[a-zA-Z]*C/), man: byOption(/^(-[a-zA-Z]*P|--pa)/) },
    ...{ split: byOption(/^--fi/), gdb: byOption(/^-?-e/), at: () => standardInput, batch: () => standardInput },
    ...{ crontab: (args) => args.map(({ text }) => ({ code: text })), bat: byOption(/^--pager/) },
    docker: ([first]) => (/^(run|exec)$/.test(first?.value ?? '') ? [{ code: 'what runs in a container' }] : []),
  }),
);
const fdRuns = /^(-x|-X|--exec|--exec-batch)$/;
const sshValued = '-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w';
