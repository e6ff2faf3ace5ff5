import { hash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '@sallyport/contract';
import { canonicalJson } from '@sallyport/contract';
import { programTool, readJson, readText } from '../run/program-tool.ts';
import { readSourceFile } from '../../text/source-file.ts';
import { readYaml } from '../../text/read-yaml.ts';
import { joinWords } from '../../policy/patterns/shell-words.ts';
import type { Position } from '../../text/source-file.ts';
import { YamlReader } from '../../text/yaml-reader.ts';
import type { AssignedProperties } from '../../registry/define-foreign-tool.ts';
import { defineForeignTool, detailOf } from '../../registry/define-foreign-tool.ts';
import type { SkippedFile } from '../find-tool-files.ts';
import { hashDefinition } from '../../registry/hash-definition.ts';
import type { PlacedProgram } from '../place-program.ts';
import type { OfferedTools, ToolOffer, ToolSource } from '../tool-offer.ts';
import { findMisnested } from '../../pipelines/find-misnested.ts';
import { mostNested } from '../../pipelines/pipeline.ts';
import type { Pipeline } from '../../pipelines/pipeline.ts';
import { offerPipeline } from '../../pipelines/pipeline-tool.ts';
import type { PipelineParts } from '../../pipelines/pipeline-tool.ts';
import { resolveProgram } from '../../catalogue/shell/resolve-program.ts';
import { fillTemplate } from './command-template.ts';
import { readConfiguredTools } from './read-configured-tools.ts';
import type { ConfiguredTool } from './read-configured-tools.ts';

/**
 * Tools that YAML files declare: a command with places for arguments, never a line for a shell, or a pipeline of other
 * tools. The files may also assign properties to tools from elsewhere. A tool with a mistake is left out, and the mistake told with its line.
 */
export class ConfiguredSource implements ToolSource {
  readonly #folder: string;
  readonly #pipelineParts: PipelineParts;
  #assigned: ReadonlyMap<string, AssignedProperties> = new Map();
  #hasPipelines = false;

  constructor(folder: string, pipelineParts: PipelineParts) {
    this.#folder = folder;
    this.#pipelineParts = pipelineParts;
  }

  /** Whether what is listed depends on which other tools there are. */
  get hasPipelines(): boolean {
    return this.#hasPipelines;
  }

  /** What the files say about a tool, as of the last `list`. */
  readonly assignedTo = (name: string): AssignedProperties | undefined => this.#assigned.get(name);

  /** Reads the files at once, before it gives anything else a turn. */
  readonly list = (): Promise<OfferedTools> => {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const files = readdirSync(this.#folder).filter((name) => /^[^.].*\.ya?ml$/.test(name));
    const offers: ToolOffer[] = [];
    const skipped: SkippedFile[] = [];
    const pipelines: FiledPipeline[] = [];
    const assigned = new Map<string, AssignedProperties>();
    const skip = (file: string, { line, column }: Position, message: string): void =>
      void skipped.push({ file, reason: `line ${line}, column ${column}: ${message}` });
    for (const file of files.sort()) {
      const source = readYaml(readSourceFile(join(this.#folder, file)));
      const reader = new YamlReader(source);
      const read = source.root && readConfiguredTools(source.root, reader, this.#pipelineParts.find);
      // A key that stands twice may be in any of its entries.
      const contents = source.problems.length === 0 ? read : undefined;
      offers.push(...(contents?.tools ?? []).map((tool) => offerConfigured(tool, file)));
      pipelines.push(...(contents?.pipelines ?? []).map((pipeline) => ({ ...pipeline, file })));
      for (const { tool, assigned: properties } of contents?.assignments ?? []) assigned.set(tool, properties);
      for (const problem of [...source.problems, ...reader.problems]) skip(file, problem, problem.message);
    }
    const misnested = new Set(findMisnested(pipelines));
    for (const pipeline of pipelines) {
      if (misnested.has(pipeline)) skip(pipeline.file, pipeline.at, explainMisnested(pipeline));
      else offers.push(offerPipeline(pipeline, pipeline.file, this.#pipelineParts));
    }
    this.#assigned = assigned;
    this.#hasPipelines = pipelines.length > 0;
    return Promise.resolve({ offers, skipped, isUnsettled: false });
  };
}

interface FiledPipeline extends Pipeline {
  readonly file: string;
}

function explainMisnested({ description: { name } }: Pipeline): string {
  return `the steps of ${name} go in a circle, or through more than ${mostNested} pipelines inside one another`;
}

function offerConfigured(tool: ConfiguredTool, file: string): ToolOffer {
  const { description, assigned, command, stdin, stdout, words } = tool;
  const definition = defineForeignTool(description, 'configured', { assigned });
  const { asks_for: _, ...shown } = detailOf(description);
  const detail: JsonObject = { ...shown, command, stdin, stdout };
  const trouble = explainMissing(tool);
  return {
    origin: 'configured',
    file,
    tool: programTool({
      definition,
      openProgram: async () => placeSystemProgram(tool),
      writeArgs: (args) => fillTemplate(words, args),
      ...(stdin === 'none' ? { writeInput: () => new Uint8Array() } : {}),
      readResult: stdout === 'json' ? readJson : (text): Json => ({ text: readText(text) }),
      describeCommand: (args) => joinWords([resolveProgram(tool.program, '/').name, ...fillTemplate(words, args)]),
    }),
    // It has no bytes of its own; its text in the file takes their place.
    fileSha256: hash('sha256', canonicalJson(detail)),
    definitionSha256: hashDefinition(definition),
    detail,
    ...(trouble === undefined
      ? {}
      : { trouble: { status: 'missing-binary', reason: trouble, stderr: '', isPassing: false } }),
  };
}

/** Undefined: it is there. */
function explainMissing({ program }: ConfiguredTool): string | undefined {
  const missing = `its program ${program} does not exist, or is not a program`;
  try {
    const { path } = resolveProgram(program, '/');
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? undefined : missing;
  } catch {
    return missing;
  }
}

/** A program of the machine sees itself where it is. Throws ToolRefused when it is not there. */
function placeSystemProgram({ program }: ConfiguredTool): PlacedProgram {
  const { path, isForeign } = resolveProgram(program, '/');
  const mounts = isForeign ? [{ source: path, target: path, access: 'read' as const }] : [];
  return { file: path, fileOutside: path, mounts };
}
