import { execFileSync } from 'node:child_process';

/** A key and a certificate for one name, signed by itself: who trusts the certificate trusts the host. */
export function testCertificate(name: string): { readonly key: string; readonly certificate: string } {
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const output = execFileSync(
    'openssl',
    [...words, '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-keyout', '-', '-out', '-'],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const part = (what: string): string =>
    new RegExp(`-----BEGIN ${what}-----[^]*?-----END ${what}-----\n`).exec(output)?.[0] ?? '';
  return { key: part('PRIVATE KEY'), certificate: part('CERTIFICATE') };
}
