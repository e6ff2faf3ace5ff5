// Runs on Node 20 with nothing installed: built-in modules only.
import { existsSync } from 'node:fs';
import { runChild } from './run-child.mjs';

/** What the sandbox needs to work at all. */
const sandbox = [{ package: 'bubblewrap', file: '/usr/bin/bwrap' }];
/** Real programs that the tests run against, beside the sandbox. */
const tests = [
  ...sandbox,
  { package: 'git', file: '/usr/bin/git' },
  { package: 'gcc', file: '/usr/bin/gcc' },
  { package: 'libc6-dev', file: '/usr/include/stdlib.h' },
  { package: 'python3-minimal', file: '/usr/bin/python3' },
  { package: 'chromium', file: '/usr/bin/chromium' },
  { package: 'curl', file: '/usr/bin/curl' },
];
/** What the sandbox needs that the benchmarks compare ours with. */
const comparison = [
  { package: 'ripgrep', file: '/usr/bin/rg' },
  { package: 'socat', file: '/usr/bin/socat' },
];
const wantedFor = { start: sandbox, test: tests, bench: [...tests, ...comparison] };

/**
 * Installs the Debian packages that a command uses and this machine lacks, if that is possible here: as root, with apt.
 * Elsewhere nothing happens: the daemon itself says what is missing, and refuses what needs it.
 */
export async function ensureSystemPackages(command) {
  const missing = (wantedFor[command] ?? []).filter(({ file }) => !existsSync(file)).map((each) => each.package);
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  process.stderr.write(`Installing ${missing.join(', ')} with apt-get (once)…\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['-y', '-q', '--no-install-recommends', 'install', ...missing];
  if ((await apt(install, env)).exitCode === 0) return;
  // The lists of packages may be missing or old.
  await apt(['-q', 'update'], env);
  const { exitCode, output } = await apt(install, env);
  if (exitCode === 0) return;
  const lastLines = output.trimEnd().split('\n').slice(-5).join('\n  ');
  process.stderr.write(`apt-get could not install ${missing.join(', ')}:\n  ${lastLines}\nGoing on without.\n`);
}

function apt(args, env) {
  return runChild('apt-get', args, { cwd: '/', env, output: 'capture' });
}
