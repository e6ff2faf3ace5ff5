import type { Json, JsonObject } from '@sallyport/contract';
import { isJsonObject } from '@sallyport/contract';
import type { RedactedJson, RedactText } from '../call/redacted.ts';
import type { ToolDefinition } from '../call/tool.ts';
import { schemaKeywords } from './schemas/schema-keywords.ts';

declare const taken: unique symbol;

/**
 * A definition without secrets in what its author wrote: the only kind that doors and exports take. What is pinned,
 * judged and run is the definition itself.
 */
export type ShownDefinition = ToolDefinition & { readonly [taken]: 'secrets' };

/** What knows the secrets. */
interface Redacting {
  readonly redactText: RedactText;
  /** Each text, name and number of the value by itself. */
  readonly redactTexts: (value: Json) => RedactedJson;
  /** Grows with every secret. */
  readonly secretCount: number;
}

/**
 * Definitions as callers see them. Those of tools from outside are redacted once, and again only after the gate has
 * learned another secret. Built-in ones are our own words. Names and versions stay: a tool is called by them.
 */
export class ShownDefinitions {
  readonly #redactor: Redacting;
  readonly #shown = new WeakMap<ToolDefinition, { readonly secretCount: number; readonly shown: ShownDefinition }>();

  constructor(redactor: Redacting) {
    this.#redactor = redactor;
  }

  /** Differs when a definition may be shown in another way. */
  get version(): number {
    return this.#redactor.secretCount;
  }

  of(definition: ToolDefinition): ShownDefinition {
    if (definition.origin === undefined) return definition as ShownDefinition;
    const { secretCount } = this.#redactor;
    const known = this.#shown.get(definition);
    if (known?.secretCount === secretCount) return known.shown;
    const shown = redactDefinition(definition, this.#redactor);
    this.#shown.set(definition, { secretCount, shown });
    return shown;
  }
}

function redactDefinition(definition: ToolDefinition, redactor: Redacting): ShownDefinition {
  const { description, tags, inputSchema, outputSchema } = definition;
  // Clients hold results to it, and a result has what a mark would stand for.
  const isOpen = JSON.stringify(redactor.redactTexts(outputSchema)) === JSON.stringify(outputSchema);
  const shown: ToolDefinition = {
    ...definition,
    description: redactor.redactText(description),
    tags: tags.map(redactor.redactText),
    inputSchema: redactSchema(inputSchema, redactor),
    outputSchema: isOpen ? outputSchema : {},
  };
  return shown as ShownDefinition;
}

/** It stays a schema: what would not be valid with a mark in it is left out. The gate checks the whole one. */
function redactSchema(schema: JsonObject, redactor: Redacting): JsonObject {
  const copy: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const isKnown = schemaKeywords.has(keyword);
    const shown = redactKeyword(keyword, value, redactor);
    if (shown !== undefined) copy[isKnown ? keyword : redactor.redactText(keyword)] = shown;
  }
  return copy;
}

function redactKeyword(keyword: string, value: Json, redactor: Redacting): Json | undefined {
  const redactInner = (inner: Json): Json => (isJsonObject(inner) ? redactSchema(inner, redactor) : inner);
  const isOpen = (text: string): boolean => redactor.redactText(text) === text;
  switch (schemaKeywords.get(keyword)) {
    case 'type':
    case 'flag':
      return value;
    case 'schema':
      return redactInner(value);
    case 'schema-list':
      return Array.isArray(value) ? value.map(redactInner) : redactor.redactTexts(value);
    case 'named-schemas': {
      if (!isJsonObject(value)) return redactor.redactTexts(value);
      const isPattern = keyword === 'patternProperties';
      const members = Object.entries(value).filter(([name]) => !isPattern || isOpen(name));
      return Object.fromEntries(members.map(([name, inner]) => [redactor.redactText(name), redactInner(inner)]));
    }
    case 'pattern':
    case 'count':
    case 'number':
    case 'positive':
      return isOpen(typeof value === 'string' ? value : JSON.stringify(value)) ? value : undefined;
    default:
      return redactor.redactTexts(value);
  }
}
