#!/usr/bin/env node
// Runs on Node 20, up to the point where it goes on with a newer one.
import { statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findMainModule } from './built-program.mjs';
import { continueOn, findOwnNode, oldestNode } from './own-node.mjs';

if (process.argv[2] === 'hook' || process.argv[2] === 'exec') {
  // Before every use of a tool somebody waits for it.
  await import(process.argv[2] === 'hook' ? './hook.mjs' : './exec.mjs');
} else if (Number.parseInt(process.versions.node, 10) >= oldestNode) {
  keepCompiledCode();
  // Where an error came from is told as a line of the sources.
  if (process.env.SALLYPORT_DEBUG) process.setSourceMapsEnabled(true);
  const { main } = await import(pathToFileURL(findMainModule()).href);
  await main(process.argv);
} else {
  const node = findOwnNode();
  if (node === undefined) {
    console.error(`Sallyport needs Node ${oldestNode} or newer; this is ${process.version}.`);
    console.error('It brings its own when npm installs optional packages: npm install -g --include=optional sallyport');
    process.exit(1);
  }
  continueOn(node);
}

/**
 * Halves the time until a command runs. Compiled code is trusted like the program, so it is kept only where no tool and
 * no other user can write: in a home that belongs to this user alone.
 */
function keepCompiledCode() {
  try {
    const home = resolve(process.env.SALLYPORT_HOME || join(homedir(), '.sallyport'));
    const { uid, mode } = statSync(home);
    if (uid === process.getuid?.() && (mode & 0o066) === 0) module.enableCompileCache(join(home, 'cache'));
  } catch {
    // No home, or none yet: nothing is kept.
  }
}
