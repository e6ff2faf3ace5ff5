#!/usr/bin/env node
import { existsSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const oldestNode = 24;

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  console.error(`Sallyport needs Node ${oldestNode} or newer; this is ${process.version}.`);
  console.error('In a checkout, `npx sallyport` brings its own.');
  process.exit(1);
}

keepCompiledCode();
const source = new URL('../src/cli/main.ts', import.meta.url);
// A checkout runs its sources; a published package holds the same files compiled.
const { main } = await import(existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href);
await main(process.argv);

/**
 * Halves the time until a command runs. Compiled code is trusted like the program, so it lies only where no tool and
 * no other user can write: in a home that belongs to this user alone.
 */
function keepCompiledCode() {
  const home = resolve(process.env.SALLYPORT_HOME || join(homedir(), '.sallyport'));
  try {
    const { uid, mode } = statSync(home);
    if (uid === process.getuid?.() && (mode & 0o066) === 0) module.enableCompileCache(join(home, 'cache'));
  } catch {
    // No home yet: nothing is kept.
  }
}
