export function ensureConsoleBuilt(command: string): Promise<void>;
