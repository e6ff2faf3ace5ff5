import { YamlReader } from '../text/yaml-reader.ts';
import { readYaml } from '../text/read-yaml.ts';
import type { ToolDefinition } from '../call/tool.ts';
import { readConfiguredTools } from '../programs/tools/read-configured-tools.ts';
import type { Pipeline } from './pipeline.ts';

export interface ReadPipelines {
  readonly pipelines: readonly Pipeline[];
  /** `line: message`. */
  readonly problems: readonly string[];
}

/** Reads a file with this text, where only the given tools are known. */
export function readPipelines(text: string, known: readonly ToolDefinition[] = []): ReadPipelines {
  const source = readYaml({ file: 'a.yaml', bytes: Buffer.from(text) });
  const reader = new YamlReader(source);
  const find = (name: string) => known.find((tool) => tool.name === name);
  const { pipelines = [] } = (source.root && readConfiguredTools(source.root, reader, find)) ?? {};
  const problems = [...source.problems, ...reader.problems].map(({ line, message }) => `${line}: ${message}`);
  return { pipelines, problems };
}

/** The only pipeline of the text; its steps and what else is given, under `pipelines`. */
export function pipelineOf(body: string, known: readonly ToolDefinition[] = []): Pipeline {
  const { pipelines, problems } = readPipelines(`pipelines:\n  - name: chain\n    description: X.\n${body}`, known);
  const [pipeline] = pipelines;
  if (pipeline === undefined) throw new Error(problems.join('\n'));
  return pipeline;
}
