// Builds the console into the folder that is given.
import { build } from 'vite';

const [outDir = ''] = process.argv.slice(2);
await build({
  configFile: false,
  root: import.meta.dirname,
  logLevel: 'warn',
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page forbids inline scripts and data: addresses.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
});
