import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function openChromium(): Promise<Browser> {
  const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((file) => existsSync(file));
  const executablePath = process.env['SALLYPORT_TEST_CHROMIUM'] ?? installed ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args });
}
