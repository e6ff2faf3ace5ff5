/** A key of git's configuration and what it is set to. */
export type Setting = readonly [key: string, value: string];

/**
 * What is set for every run, above anything that the repository says. Each line takes away a way in which files of a
 * repository make git run a program, ask somebody, or reach something.
 */
const fixedSettings: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['core.askPass', ''],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', ''],
  ['core.alternateRefsCommand', 'true'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['credential.helper', ''],
  ['credential.interactive', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.submodule', 'short'],
  ['status.submoduleSummary', 'false'],
  // Paths are judged from the top of the repository.
  ['diff.relative', 'false'],
  ['status.relativePaths', 'false'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['tag.forceSignAnnotated', 'false'],
  ['push.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['merge.verifySignatures', 'false'],
  ['gpg.program', 'false'],
  ['gpg.openpgp.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['http.sslVerify', 'true'],
  ['safe.directory', '*'],
  // Tracking branches are written into the configuration, which stays closed.
  ['branch.autoSetupMerge', 'false'],
  ['push.autoSetupRemote', 'false'],
  ['advice.detachedHead', 'false'],
  // The first commit has a patch like every other.
  ['log.showRoot', 'true'],
];

/** Settings of which a repository can have any number, each under a name of its own. */
const openEnded: readonly { readonly key: RegExp; readonly values: Readonly<Record<string, string>> }[] = [
  {
    key: /^filter\.(?<name>.+)\.(?:clean|smudge|process|required)$/s,
    values: { clean: '', smudge: '', process: '', required: 'false' },
  },
  { key: /^merge\.(?<name>.+)\.driver$/s, values: { driver: 'false' } },
  { key: /^hook\.(?<name>.+)\.(?:command|event|enabled)$/s, values: { enabled: 'false' } },
  { key: /^http\.(?<name>.+)\.sslverify$/s, values: { sslVerify: 'true' } },
];

/**
 * Settings against what a repository configured under names of its choice. `keys`: as `git config --list` prints them.
 */
export function counterSettings(keys: readonly string[]): readonly Setting[] {
  const settings = new Map<string, string>();
  for (const key of keys) {
    for (const { key: pattern, values } of openEnded) {
      const name = pattern.exec(key)?.groups?.['name'];
      if (name === undefined) continue;
      const section = key.slice(0, key.indexOf('.'));
      for (const [variable, value] of Object.entries(values)) settings.set(`${section}.${name}.${variable}`, value);
    }
  }
  return [...settings];
}

/**
 * The environment of git: nothing of the machine's or the person's configuration, nobody to ask, no transport but the
 * ones named. Settings given this way count before those of the repository.
 */
export function gitEnvironment(
  settings: readonly Setting[],
  { protocols = [] }: { readonly protocols?: readonly string[] } = {},
): Readonly<Record<string, string>> {
  const all = [...fixedSettings, ...settings];
  return {
    PATH: '/usr/bin:/bin',
    HOME: '/nonexistent',
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    GIT_EDITOR: 'false',
    GIT_SEQUENCE_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_SSH_COMMAND: 'false',
    GIT_NO_LAZY_FETCH: '1',
    // What is sent are the commits themselves, so that these are what is shown.
    GIT_NO_REPLACE_OBJECTS: '1',
    // An empty list would mean: ask the configuration.
    GIT_ALLOW_PROTOCOL: protocols.length === 0 ? 'none' : protocols.join(':'),
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(
      all.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
