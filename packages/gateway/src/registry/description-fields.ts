import type { JsonObject } from '@sallyport/contract';
import { hasHiddenTextOrLines, isJsonObject } from '@sallyport/contract';

/** Why what a program says about itself is not taken. */
export class DescriptionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DescriptionError';
  }
}

const mostItems = 200;
const longestItem = 1000;

// Each of these throws DescriptionError. A key that is absent or null says nothing.

export function readObject(value: JsonObject, key: string): JsonObject | undefined {
  const member = value[key] ?? undefined;
  if (member !== undefined && !isJsonObject(member)) throw new DescriptionError(`its ${key} must be an object`);
  return member;
}

export function readText(value: JsonObject, key: string): string | undefined {
  const member = value[key] ?? undefined;
  if (member === undefined) return undefined;
  if (typeof member !== 'string' || member === '' || member.length > longestItem || hasHiddenTextOrLines(member)) {
    throw new DescriptionError(`its ${key} must be a plain text of up to ${longestItem} characters`);
  }
  return member;
}

export function readTexts(value: JsonObject, key: string): readonly string[] {
  const items = value[key] ?? [];
  const isFine =
    Array.isArray(items) &&
    items.length <= mostItems &&
    items.every((item) => typeof item === 'string' && item.length <= longestItem && !hasHiddenTextOrLines(item));
  if (!isFine) throw new DescriptionError(`its ${key} must be a list of up to ${mostItems} plain texts`);
  return items as readonly string[];
}

export function readOneOf<T extends string>(value: JsonObject, key: string, allowed: readonly T[]): T | undefined {
  const member = value[key] ?? undefined;
  const found = allowed.find((each) => each === member);
  if (member !== undefined && found === undefined) {
    throw new DescriptionError(`its ${key} must be one of ${allowed.join(', ')}`);
  }
  return found;
}

/** At least one of them: an empty list would mean never. */
export function readSome<T extends string>(
  value: JsonObject,
  key: string,
  allowed: readonly T[],
): readonly T[] | undefined {
  const items = value[key] ?? undefined;
  if (items === undefined) return undefined;
  const found = Array.isArray(items) ? allowed.filter((each) => items.includes(each)) : [];
  if (!Array.isArray(items) || found.length === 0 || items.some((item) => !allowed.includes(item as T))) {
    throw new DescriptionError(`its ${key} must be a list of ${allowed.join(', ')}`);
  }
  return found;
}

export function readFlag(value: JsonObject, key: string): boolean | undefined {
  const member = value[key] ?? undefined;
  if (member !== undefined && typeof member !== 'boolean')
    throw new DescriptionError(`its ${key} must be true or false`);
  return member;
}

export function readCount(value: JsonObject, key: string): number | undefined {
  const member = value[key] ?? undefined;
  if (member === undefined) return undefined;
  if (!Number.isSafeInteger(member) || (member as number) < 1) {
    throw new DescriptionError(`its ${key} must be a whole number from 1`);
  }
  return member as number;
}
