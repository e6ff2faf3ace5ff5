/** Whether `path` is `folder` or below it. Both canonical: absolute, without `.`, `..` or a slash at the end. */
export function isWithin(folder: string, path: string): boolean {
  return folder === '/' || path === folder || (path.startsWith(folder) && path.charCodeAt(folder.length) === 0x2f);
}
