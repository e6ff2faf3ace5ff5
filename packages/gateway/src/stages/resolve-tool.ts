import { wholeText } from '@sallyport/contract';
import type { Begun, Opened, Resolved } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Stage } from '../call/stage.ts';
import { isVisible } from '../registry/registry.ts';
import type { Registry } from '../registry/registry.ts';

/**
 * Finds the tool by canonical name or alias. A tool for operators does not exist for agents; one that an operator has
 * not accepted, or whose program is gone, exists and says why it cannot be called.
 */
export function resolveTool(
  registry: Registry,
  isStarting: (toolName: string) => boolean = () => false,
): Stage<Begun & Opened, Resolved> {
  return {
    name: 'resolve-tool',
    run: (call) => {
      const { toolName, session } = call;
      const found = call.clientRun === undefined ? registry.find(toolName) : registry.findForClient(toolName);
      if (found !== undefined && isVisible(found.tool, session.principal)) {
        const unusable = found.tool.explainUnusable?.();
        if (unusable === undefined) {
          call.tool = found.tool;
          return undefined;
        }
        return unusable.code === 'TOOL_MISSING' && isStarting(toolName) ? stillStarting(toolName) : unusable;
      }
      if (found === undefined && isStarting(toolName)) return stillStarting(toolName);
      const suggestions = registry.suggest(toolName, session.principal);
      return refuse('UNKNOWN_TOOL', 'registry', `There is no tool named ${JSON.stringify(wholeText(toolName))}.`, {
        remedy:
          suggestions.length > 0
            ? `Did you mean ${suggestions.join(' or ')}?`
            : 'List the tools you may call with ListAvailableTools.',
        ...(suggestions.length > 0 ? {} : { forOperators: 'List the tools with `sallyport tool list`.' }),
      });
    },
  };
}

function stillStarting(toolName: string): Refusal {
  const message = `${JSON.stringify(wholeText(toolName))} was accepted but is not ready yet: the gate has just started.`;
  return refuse('TOOL_STARTING', 'registry', message, {
    remedy: 'Send the call again in a moment.',
    retryAfterMs: 500,
  });
}
