/** Where package managers and git share files with a store by giving them a second name. */
const stores = /\/(?:node_modules|\.pnpm-store|site-packages|\.git\/(?:.*\/)?objects)\//;

export function isInPackageStore(realPath: string): boolean {
  return stores.test(realPath);
}
