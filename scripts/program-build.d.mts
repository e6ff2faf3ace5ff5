export function ensureProgramBuilt(command: string): Promise<void>;
export function isBuildCurrent(): boolean;
export function describeFile(file: string): string | undefined;
