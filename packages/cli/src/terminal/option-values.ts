import { InvalidArgumentError } from 'commander';

export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > 0xffff_ffff) throw new InvalidArgumentError('It must be a whole number.');
  return count;
}

export function parseHours(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of hours, at least 1.');
  return Number(text);
}
