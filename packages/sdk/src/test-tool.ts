import type { JsonObject } from './json.ts';
import { runTool } from './run-tool.ts';
import type { ValueOf } from './schema.ts';
import { defineTool } from './tool.ts';
import type { Tool, ToolSpec } from './tool.ts';

export interface TestedTool<Output extends JsonObject> {
  /** What `--schema` prints. */
  readonly schema: JsonObject;
  /**
   * One call without a process: through JSON and both schemas, as the program does it. Rejects with InvalidInput,
   * InvalidOutput, or what `run` threw.
   */
  readonly call: (input: JsonObject) => Promise<ValueOf<Output>>;
}

export function testTool<const Input extends JsonObject, const Output extends JsonObject = JsonObject>(
  tool: ToolSpec<Input, Output> | Tool<Input, Output>,
): TestedTool<Output> {
  const defined = 'spec' in tool ? tool : defineTool(tool);
  return {
    schema: defined.schema,
    call: async (input) => JSON.parse(await runTool(defined, JSON.stringify(input))) as ValueOf<Output>,
  };
}
