import type { AnyTool } from '../../call/tool.ts';
import { codeLint } from './code-lint.ts';
import { codeSearch } from './code-search.ts';
import { codeTest } from './code-test.ts';
import { logsSearch } from './logs-search.ts';
import { codeDefinition, codeDocumentation } from './symbol-tools.ts';

/** What agents need to work on a project. Programs of the project run in the sandbox and can change nothing. */
export function codeTools(): readonly AnyTool[] {
  return [codeSearch(), codeDefinition(), codeDocumentation(), codeLint(), codeTest(), logsSearch()];
}
