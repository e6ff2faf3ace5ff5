import { checkValue } from './check-value.ts';
import { isJsonObject } from './json.ts';
import type { Json, JsonObject } from './json.ts';
import type { Tool } from './tool.ts';
import type { ValueOf } from './schema.ts';

/** The input does not match the schema: an error of the caller, not of the tool. */
export class InvalidInput extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvalidInput';
  }
}

/** The output does not match the schema: a defect of the tool. */
export class InvalidOutput extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvalidOutput';
  }
}

/** From the JSON of a call to the JSON of its answer. Rejects with InvalidInput, InvalidOutput or what `run` threw. */
export async function runTool<Input extends JsonObject, Output extends JsonObject>(
  { spec }: Tool<Input, Output>,
  inputJson: string,
): Promise<string> {
  const input = readInput(inputJson, spec.input);
  const output = await spec.run(input as ValueOf<Input, JsonObject>);
  return writeOutput(output, spec.output);
}

function readInput(text: string, schema: JsonObject): JsonObject {
  let input: Json;
  try {
    input = (text.trim() === '' ? {} : JSON.parse(text)) as Json;
  } catch (error) {
    throw new InvalidInput(`The input is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (!isJsonObject(input)) throw new InvalidInput('The input must be one JSON object.');
  const problems = checkValue(input, schema, '');
  if (problems.length > 0) throw new InvalidInput(`The input does not fit: ${problems.join('; ')}.`);
  return input;
}

function writeOutput(output: unknown, schema: JsonObject | undefined): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(output ?? {});
  } catch (error) {
    throw new InvalidOutput(`The output cannot be written as JSON: ${(error as Error).message}`, { cause: error });
  }
  if (text === undefined) throw new InvalidOutput(`The output cannot be written as JSON: it is a ${typeof output}.`);
  if (schema === undefined) return text;
  // What is checked is what is sent: a date, for example, has become a string by now.
  const problems = checkValue(JSON.parse(text) as Json, schema, 'output');
  if (problems.length > 0) throw new InvalidOutput(`The output does not fit its schema: ${problems.join('; ')}.`);
  return text;
}
