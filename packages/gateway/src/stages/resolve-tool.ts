import { wholeText } from '@sallyport/contract';
import type { Begun, Opened, Resolved } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Stage } from '../pipeline/stage.ts';
import { isVisible } from '../registry/registry.ts';
import type { Registry } from '../registry/registry.ts';

/**
 * Finds the tool by canonical name or alias. A tool for operators does not exist for agents; one that an operator has
 * not accepted, or whose program is gone, exists and says why it cannot be called.
 */
export function resolveTool(registry: Registry): Stage<Begun & Opened, Resolved> {
  return {
    name: 'resolve-tool',
    run: ({ toolName, session }) => {
      const found = registry.find(toolName);
      if (found !== undefined && isVisible(found.tool, session.principal)) {
        return found.tool.explainUnusable?.() ?? { tool: found.tool };
      }
      const suggestions = registry.suggest(toolName, session.principal);
      return refuse('UNKNOWN_TOOL', 'registry', `There is no tool named ${JSON.stringify(wholeText(toolName))}.`, {
        remedy:
          suggestions.length > 0
            ? `Did you mean ${suggestions.join(' or ')}?`
            : 'List the tools you may call with ListAvailableTools or `sallyport tool list`.',
      });
    },
  };
}
