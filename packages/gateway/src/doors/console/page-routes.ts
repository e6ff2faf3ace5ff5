import type { OutgoingHttpHeaders } from 'node:http';
import type { HttpRoute } from '../transport/http-route.ts';
import type { ConsoleFile } from './console-files.ts';

/** Nothing from elsewhere, nothing inline, and no script that is made from text. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const pageHeaders: OutgoingHttpHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const notBuilt: ConsoleFile = {
  path: '/',
  type: 'text/html; charset=utf-8',
  bytes: Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sallyport</title>
<h1>The console is not built</h1>
<p>The gate itself is running. To build the console, stop it and run <code>npm start</code> in the checkout.</p>
<p>Until then, everything can be done at the command line: <code>sallyport --help</code>.</p>
`),
};

/** The page and what it loads. They are the same for everyone, so no credential is asked for. */
export function pageRoutes(files: readonly ConsoleFile[] | undefined): readonly HttpRoute[] {
  return (files ?? [notBuilt]).map(({ path, type, bytes }) => ({
    method: 'GET',
    path,
    doors: ['tcp'],
    handle: (_request, response) => {
      response.writeHead(200, {
        ...pageHeaders,
        'content-type': type,
        'content-length': bytes.length,
        // The name of an asset holds the hash of what is in it; the page tells which ones are current.
        'cache-control': path === '/' ? 'no-store' : 'public, max-age=31536000, immutable',
      });
      response.end(bytes);
    },
  }));
}
