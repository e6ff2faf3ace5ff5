export const recordFile: string;
export function findMainModule(environment?: Readonly<Record<string, string | undefined>>): string;
export function readRecord():
  | { readonly folder: string; readonly sources: Readonly<Record<string, string>> }
  | undefined;
