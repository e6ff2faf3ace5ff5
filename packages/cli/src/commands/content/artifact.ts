import type { CommandContext } from '../../command-context.ts';
import { spellBytes } from '@sallyport/contract';
import { formatTime } from '../../terminal/format-time.ts';
import { runTool } from '../../client/run-tool.ts';
import { renderFields, renderTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

interface Artifact {
  readonly artifact_id: string;
  readonly content_hash: string;
  readonly size: number;
  readonly category: string;
  readonly metadata: readonly string[];
  readonly agent: string;
  readonly session_id: string;
  readonly published_at: string;
}

export interface PublishOptions {
  readonly category: string;
  readonly metadata?: readonly string[];
}

export function listArtifacts({ category }: { readonly category?: string }, context: CommandContext): Promise<number> {
  interface Listed {
    readonly artifacts: readonly Artifact[];
    readonly total: number;
  }
  return runTool<Listed>('artifacts.list', { category }, context, ({ artifacts, total }) => {
    const { columns, paint, print, note } = context.terminal;
    if (artifacts.length === 0) {
      print('No artifact has been published.');
      return;
    }
    const rows = artifacts.map((artifact) =>
      [
        artifact.artifact_id,
        artifact.category,
        spellBytes(artifact.size),
        artifact.agent,
        formatTime(Date.parse(artifact.published_at)),
        artifact.content_hash,
      ].map(makeVisibleLine),
    );
    const [header = '', ...body] = renderTable(
      [['ARTIFACT', 'CATEGORY', 'SIZE', 'AGENT', 'PUBLISHED', 'CONTENT'], ...rows],
      columns,
    );
    print(paint('dim', header), ...body);
    if (total > artifacts.length) note(`${total - artifacts.length} older ones are not shown.`);
  });
}

export function showArtifact(id: string, context: CommandContext): Promise<number> {
  return runTool<Artifact>('artifacts.get', { artifact_id: id }, context, (artifact) =>
    printArtifact(artifact, context),
  );
}

export function publishArtifact(
  id: string,
  hash: string,
  { category, metadata = [] }: PublishOptions,
  context: CommandContext,
): Promise<number> {
  const input = { artifact_id: id, content_hash: hash, category, metadata };
  return runTool<Artifact>('artifacts.publish', input, context, (artifact) => {
    context.terminal.print('Published for good.', '');
    printArtifact(artifact, context);
  });
}

function printArtifact(artifact: Artifact, { terminal }: CommandContext): void {
  const fields: readonly (readonly [string, string])[] = [
    ['artifact', artifact.artifact_id],
    ['category', artifact.category],
    ['content', artifact.content_hash],
    ['size', spellBytes(artifact.size)],
    ['agent', artifact.agent],
    ['session', artifact.session_id],
    ['published', formatTime(Date.parse(artifact.published_at))],
    ...artifact.metadata.map((entry, at): [string, string] => [at === 0 ? 'metadata' : '', entry]),
  ];
  terminal.print(
    ...renderFields(
      fields.map(([label, value]) => [label, makeVisibleLine(value)]),
      terminal.columns,
    ),
  );
}
