// Runs on Node 20: built-in modules only.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { join, dirname } from 'node:path';

/** The Node that the program is tested with. */
export const oldestNode = 26;

/** The Node that was installed with the program, for machines that have an older one. Undefined: none was. */
export function findOwnNode(platform = process.platform, arch = process.arch) {
  const require = createRequire(import.meta.url);
  for (const name of [`node-${platform}-${arch}`, `node-bin-${platform}-${arch}`]) {
    try {
      return join(dirname(require.resolve(`${name}/package.json`)), 'bin/node');
    } catch {
      // Made for another machine, or left out.
    }
  }
  return undefined;
}

/** Goes on with this command on another Node, and ends as it does. */
export function continueOn(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // A terminal tells the whole group, so one Ctrl-C may reach the daemon twice; it counts them as one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`${node} does not run: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (code === notLoaded) explainNotLoaded();
    process.exit(code ?? 128 + constants.signals[signal]);
  });
}

/** How the loader of the system ends a program for which it lacks a library. No command of ours ends so. */
const notLoaded = 127;

/** The loader has said which one. On a machine with few packages it is this one. */
function explainNotLoaded() {
  console.error('The Node that Sallyport brings needs a library that is missing here. Install it:');
  console.error('  sudo apt-get install libatomic1     (Debian, Ubuntu)');
  console.error('  sudo dnf install libatomic          (Fedora, Red Hat)');
}
