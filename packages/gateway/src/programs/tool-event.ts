import type { InstalledTool } from './installed-tool.ts';

/** What happened to a tool, for the log. */
export interface ToolEvent {
  readonly event: 'tool_found' | 'tool_changed' | 'tool_gone' | 'tool_accepted' | 'tool_forgotten';
  readonly name: string;
  readonly version: string;
  readonly fileSha256: string;
  /** Who did it: a person, or the kind of rule. Absent: it was noticed. */
  readonly by?: string;
}

/** What must have happened between two looks. */
export function listEvents(before: readonly InstalledTool[], after: readonly InstalledTool[]): readonly ToolEvent[] {
  const [was, is] = [listPresent(before), listPresent(after)];
  const found = [...is].flatMap(([id, tool]) => {
    const former = was.get(id);
    if (former === undefined) return [eventOf('tool_found', tool)];
    return former.key === tool.key ? [] : [eventOf('tool_changed', tool)];
  });
  const gone = [...was].filter(([id]) => !is.has(id)).map(([, tool]) => eventOf('tool_gone', tool));
  return [...found, ...gone];
}

export function eventOf(event: ToolEvent['event'], { definition, offer, pin }: InstalledTool, by?: string): ToolEvent {
  const { name, version } = definition;
  const fileSha256 = offer?.fileSha256 ?? pin?.fileSha256 ?? '';
  return { event, name, version, fileSha256, ...(by === undefined ? {} : { by }) };
}

function listPresent(tools: readonly InstalledTool[]): ReadonlyMap<string, InstalledTool> {
  return new Map(tools.filter(({ offer }) => offer !== undefined).map((tool) => [tool.id, tool]));
}
