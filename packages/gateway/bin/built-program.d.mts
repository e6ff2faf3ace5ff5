export const recordFile: string;
export function findMainModule(): string;
export function isBuildCurrent(): boolean;
export function describeFile(file: string): string | undefined;
