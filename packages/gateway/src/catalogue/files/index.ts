import type { AnyTool } from '../../call/tool.ts';
import { filesDelete } from './files-delete.ts';
import { filesEdit } from './files-edit.ts';
import { filesEnsureDir } from './files-ensure-dir.ts';
import { filesList } from './files-list.ts';
import { filesMoveGlob } from './files-move-glob.ts';
import { filesRead } from './files-read.ts';
import { filesSearch } from './files-search.ts';
import { filesWrite } from './files-write.ts';

/** The file tools. They run inside the daemon, so each of them opens paths through `sandbox/open-path` only. */
export function fileTools(): readonly AnyTool[] {
  return [filesRead, filesList, filesSearch, filesWrite, filesEdit, filesEnsureDir, filesMoveGlob, filesDelete];
}
