import { isUtf8 } from 'node:buffer';

const textual =
  /^(?:text\/|application\/(?:.*\+)?(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-ndjson|sql|graphql|x-www-form-urlencoded)$|image\/svg)/;

/** The type alone, in lower case. Empty: the answer names none. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

export function isHtml(type: string): boolean {
  return type === 'text/html' || type === 'application/xhtml+xml';
}

/** Undefined: the bytes are no text. */
export function decodeText(bytes: Buffer, contentType: string | undefined): string | undefined {
  const type = mediaType(contentType);
  // Without a type, and with the one that says nothing, the bytes decide.
  const isUntyped = type === '' || type === 'application/octet-stream';
  if (isUntyped ? !isUtf8(bytes) || bytes.includes(0) : !textual.test(type)) return undefined;
  const named =
    /charset\s*=\s*"?([\w:.-]{1,40})/i.exec(contentType ?? '')?.[1] ?? (isHtml(type) ? declared(bytes) : undefined);
  return decoderFor(named).decode(bytes);
}

function decoderFor(label: string | undefined): TextDecoder {
  try {
    return new TextDecoder(label ?? 'utf-8');
  } catch {
    return new TextDecoder('utf-8');
  }
}

/** What a page says about itself near its beginning. */
function declared(bytes: Buffer): string | undefined {
  return /<meta[^>]{1,200}charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(bytes.toString('latin1', 0, 2048))?.[1];
}
