import { ToolFailure } from '../../call/tool.ts';
import type { ProviderParts } from './ask-provider.ts';
import type { Provider, ProviderSettings } from './provider-settings.ts';

/** The provider of this name; without a name, the first. Throws ToolFailure, which tells operators what to write where. */
export function findProvider<Family extends keyof ProviderSettings>(
  family: Family,
  name: string | undefined,
  { providers }: Pick<ProviderParts, 'providers'>,
): ProviderSettings[Family][number] {
  const what: string = family;
  const all: readonly Provider[] = providers.current[family];
  const found = name === undefined ? all[0] : all.find((each) => each.name === name);
  if (found !== undefined) return found as ProviderSettings[Family][number];
  const { problem } = providers;
  const file = 'providers.yaml beside the rules';
  if (all.length === 0) {
    throw new ToolFailure('UPSTREAM_FAILED', `No provider for ${what} is set up at this gate.`, {
      forOperators:
        problem ?? `Name one under ${family} in ${file}, and store its key with \`sallyport secret set NAME\`.`,
    });
  }
  const names = all.map((each) => each.name).join(', ');
  throw new ToolFailure('NOT_FOUND', `There is no such provider for ${what}. There are: ${names}.`, {
    forOperators: `Add it under ${family} in ${file}.`,
  });
}
