const toolName = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*$/;
const longestName = 64;
const toolVersion = /^[0-9A-Za-z](?:[0-9A-Za-z.+-]{0,62}[0-9A-Za-z])?$/;
const extension = /\.(?:ts|js|mjs|py|sh)$/;

/** Version of a tool that does not say which one it is. */
export const unknownVersion = '0.0.0';

export const nameRule = 'up to 64 small letters, digits, "_" and "-", with dots between parts that start with a letter';

export function isToolName(name: string): boolean {
  return name.length <= longestName && toolName.test(name);
}

export function isToolVersion(version: string): boolean {
  return toolVersion.test(version);
}

/** What the name of a file says about the tool in it: `text.count.py`, `text.count@1.2.0.py`. Undefined: it names no tool. */
export function parseToolFileName(file: string): { readonly name: string; readonly version?: string } | undefined {
  const [name = '', version, ...more] = file.replace(extension, '').split('@');
  if (!isToolName(name) || more.length > 0) return undefined;
  if (version === undefined) return { name };
  return isToolVersion(version) ? { name, version } : undefined;
}

/** A name and a version in one, as a call may spell it. */
export function joinVersion(name: string, version: string): string {
  return `${name}@${version}`;
}
