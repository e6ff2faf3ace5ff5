// Runs on Node 20 with nothing installed: built-in modules only.
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
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
  // Without windows to draw, it takes half the time of the whole browser. Tests use that one where this is missing.
  { package: 'chromium-headless-shell', file: '/usr/bin/chromium-headless-shell' },
  { package: 'curl', file: '/usr/bin/curl' },
  { package: 'postgresql', file: '/usr/share/doc/postgresql' },
  // A desktop for tests: a display without a screen, its clipboard, a message bus, and what shows notices and windows.
  { package: 'xvfb', file: '/usr/bin/Xvfb' },
  { package: 'xclip', file: '/usr/bin/xclip' },
  { package: 'x11-utils', file: '/usr/bin/xmessage' },
  { package: 'dbus-daemon', file: '/usr/bin/dbus-daemon' },
  { package: 'dbus-bin', file: '/usr/bin/dbus-send' },
  { package: 'libnotify-bin', file: '/usr/bin/notify-send' },
  { package: 'dunst', file: '/usr/bin/dunst' },
  // Writes and reads a journal.
  { package: 'systemd', file: '/usr/lib/systemd/systemd-journald' },
  // Reads the profile that we write.
  { package: 'apparmor', file: '/usr/sbin/apparmor_parser' },
  // Somebody else's code judges what the log proves.
  { package: 'golang-go', file: '/usr/bin/go' },
  { package: 'golang-golang-x-mod-dev', file: '/usr/share/gocode/src/golang.org/x/mod/sumdb/tlog/tlog.go' },
  { package: 'openssl', file: '/usr/bin/openssl' },
];
const benchmarks = [
  // Native load generators: one written in Node would measure itself. Calls of MCP differ, which takes the second one.
  { package: 'nghttp2-client', file: '/usr/bin/h2load' },
  { package: 'wrk', file: '/usr/bin/wrk' },
  // What the sandbox needs that the benchmarks compare ours with.
  { package: 'ripgrep', file: '/usr/bin/rg' },
  { package: 'socat', file: '/usr/bin/socat' },
];
/** A machine to install on, and a kernel for it that runs as a program. */
const freshDebian = [
  { package: 'debootstrap', file: '/usr/sbin/debootstrap' },
  { package: 'user-mode-linux', file: '/usr/bin/linux.uml' },
];
const wantedFor = { start: sandbox, test: tests, bench: [...tests, ...benchmarks], 'fresh-debian': freshDebian };

const aptGet = '/usr/bin/apt-get';

/**
 * Installs the Debian packages that a command uses and this machine lacks: as root, with apt. A person at the terminal
 * is asked first, and told what to run where only another user can install. Without a person, as in CI, packages are
 * installed where that is possible. Nothing here keeps a command from going on: the daemon itself says what is missing,
 * and refuses what needs it.
 */
export async function ensureSystemPackages(command) {
  const missing = (wantedFor[command] ?? []).filter(({ file }) => !existsSync(file)).map((each) => each.package);
  if (missing.length === 0 || !existsSync(aptGet)) return;
  const mayInstall = process.getuid?.() === 0;
  if (isPersonHere()) {
    const names = missing.join(' ');
    if (!mayInstall) return say(`Missing here: ${names}. Install with \`sudo apt-get install ${names}\`.`);
    if (!(await agrees(`This needs ${missing.join(', ')}. Install with apt-get? [y/N] `)))
      return say('Going on without.');
  } else if (!mayInstall) return;
  await install(missing);
}

function isPersonHere() {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

async function agrees(question) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-D is a no. Ctrl-C ends the command, as anywhere.
  const closed = new Promise((resolve) => terminal.once('close', () => resolve('')));
  terminal.once('SIGINT', () => process.exit(130));
  try {
    return /^y(?:es)?$/i.test((await Promise.race([terminal.question(question), closed])).trim());
  } finally {
    terminal.close();
  }
}

async function install(missing) {
  say(`Installing ${missing.join(', ')} with apt-get (once)…`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const args = ['-y', '-q', '--no-install-recommends', 'install', ...missing];
  if ((await apt(args, env)).exitCode === 0) return;
  // The lists of packages may be missing or old.
  await apt(['-q', 'update'], env);
  const { exitCode, output } = await apt(args, env);
  if (exitCode === 0) return;
  const lastLines = output.trimEnd().split('\n').slice(-5).join('\n  ');
  say(`apt-get could not install ${missing.join(', ')}:\n  ${lastLines}\nGoing on without.`);
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function apt(args, env) {
  return runChild(aptGet, args, { cwd: '/', env, output: 'capture' });
}
