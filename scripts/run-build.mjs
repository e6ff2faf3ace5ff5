// Runs on Node 20 with nothing but the dependencies installed: built-in modules only.
import { projectNode, root } from './install.mjs';
import { runChild } from './run-child.mjs';

/** Runs a build and says how long it took. A part that cannot be built keeps nobody from starting the gate. */
export async function runBuild(part, args) {
  const startedAt = Date.now();
  process.stderr.write(`Building ${part} (once)…\n`);
  const { exitCode, output } = await runChild(projectNode, args, { cwd: root, env: process.env, output: 'capture' });
  if (exitCode === 0) {
    process.stderr.write(`Built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.\n`);
    return true;
  }
  const lastLines = output.trimEnd().split('\n').slice(-15).join('\n  ');
  process.stderr.write(
    `${part[0].toUpperCase()}${part.slice(1)} could not be built:\n  ${lastLines}\nGoing on without.\n`,
  );
  return false;
}
