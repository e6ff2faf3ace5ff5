/**
 * Why messages cannot be sent there, as the end of a sentence. Undefined: they can. What is said about a call leaves the
 * machine encrypted, or not at all.
 */
export function explainWebhookUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return 'is not a URL';
  if (url.username !== '' || url.password !== '') return 'must not hold a password';
  const isNear = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isNear)) return undefined;
  return 'must begin with https://; http:// is for this machine only';
}
