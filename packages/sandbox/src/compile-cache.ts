import module from 'node:module';

/** Node 20 keeps no compiled code and has none of this. */
const cache: Partial<Pick<typeof module, 'getCompileCacheDir' | 'flushCompileCache'>> = module;

/** Undefined: nothing is kept. */
export function findCompileCache(): string | undefined {
  return cache.getCompileCacheDir?.();
}

export function keepCompiledCode(): void {
  cache.flushCompileCache?.();
}
