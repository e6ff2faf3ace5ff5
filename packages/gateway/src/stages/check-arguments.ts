import { hash } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';
import type { ArgumentsChecked, ArgumentsRead, Begun, Opened, Resolved } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';
import type { Stage } from '../call/stage.ts';
import type { Registry } from '../registry/registry.ts';
import { largeJson, largeLength } from '../text/large-json.ts';

/** Validates the arguments, with defaults applied, and fixes their canonical form: what is judged is what runs. */
export function checkArguments(registry: Registry): Stage<Begun & Opened & ArgumentsRead & Resolved, ArgumentsChecked> {
  return {
    name: 'check-arguments',
    run: (call) => {
      const { rawArguments, session, timeoutMs, tool } = call;
      const { name, timeoutMs: toolTimeoutMs } = tool.definition;
      const violations = registry.schemasOf(tool).input.check(rawArguments);
      if (violations.length > 0) {
        const message = `The arguments do not match the schema of ${name}: ${violations.map((violation) => violation.message).join('; ')}.`;
        const remedy = 'See the arguments of the tool with GetToolSchema.';
        const forOperators = `See the arguments of the tool with \`sallyport tool show ${name}\`.`;
        return refuse('INVALID_ARGUMENTS', 'input-schema', message, { violations, remedy, forOperators });
      }
      const longestMs = tool.timeoutMsFor?.(rawArguments) ?? toolTimeoutMs;
      call.effectiveTimeoutMs = timeoutMs === 0 ? longestMs : Math.min(timeoutMs, longestMs);
      const fixAs = (sha256: string): undefined => {
        call.arguments = { value: rawArguments, sha256 };
      };
      const fix = (): undefined | Promise<undefined> =>
        call.input.length < largeLength
          ? fixAs(hash('sha256', canonicalJson(rawArguments)))
          : largeJson.digest(rawArguments).then(fixAs);
      try {
        call.resources = tool.claim(rawArguments, session);
      } catch (error) {
        return refusalOf(error);
      }
      const lookedUp = tool.lookUpClaim?.(rawArguments, session);
      if (lookedUp === undefined) return fix();
      return lookedUp.then((resources) => {
        call.resources = resources;
        return fix();
      }, refusalOf);
    },
  };
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ToolRefused) return error.refusal;
  throw error;
}
