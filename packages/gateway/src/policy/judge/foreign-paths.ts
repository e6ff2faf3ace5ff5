import { isWithin } from '@sallyport/sandbox';
import type { Workspace } from '../../call/workspace.ts';
import { foldPath } from '../patterns/canonical-path.ts';
import type { ProtectedPaths } from './protected-paths.ts';

/**
 * What belongs to other projects, and stays closed to this one whatever the rules say. A path belongs to the innermost
 * accepted root around it. As with protected paths, what file systems may not tell apart counts as the same. Undefined:
 * there is no other project.
 */
export function explainForeignPaths({ folder, root, otherRoots }: Workspace): ProtectedPaths['explain'] | undefined {
  if (otherRoots.length === 0) return undefined;
  const [own, ownRoot] = [foldPath(folder), foldPath(root)];
  const others = otherRoots.map(foldPath);
  return (path, access) => {
    const folded = foldPath(path);
    const ownLength = isWithin(ownRoot, folded) ? ownRoot.length : 0;
    for (const other of others) {
      if (other.length > ownLength && isWithin(other, folded)) return 'belongs to another project';
      // Renaming a folder around a project would bring it under another name. Nobody renames their own workspace.
      if (access !== 'read' && folded !== own && isWithin(folded, other)) return 'contains another project';
    }
    return undefined;
  };
}
