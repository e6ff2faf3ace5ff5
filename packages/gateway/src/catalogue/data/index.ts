import type { AnyTool } from '../../call/tool.ts';
import { databaseList, databaseRead, databaseWrite } from './database-tools.ts';
import type { DatabaseToolParts } from './database-tools.ts';

/** Databases that the operator set up. Agents name them and never say where they are. */
export function databaseTools(parts: DatabaseToolParts): readonly AnyTool[] {
  return [databaseList(parts), databaseRead(parts), databaseWrite(parts)];
}
