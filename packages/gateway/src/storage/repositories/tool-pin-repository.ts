/** A tool as an operator accepted it: only exactly this may run under its name and version. */
export interface ToolPin {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the program's bytes, hexadecimal. For a tool without a program of its own, of its description. */
  readonly fileSha256: string;
  /** SHA-256 over name, description and schemas, hexadecimal. */
  readonly definitionSha256: string;
  readonly acceptedAtMs: number;
  /** Who accepted it, or the id of the rule that accepts new tools. */
  readonly acceptedBy: string;
}

/** Which tools from outside were accepted. */
export interface ToolPinRepository {
  /** Replaces the pin of the same name and version. */
  readonly pinTool: (pin: ToolPin) => Promise<void>;
  /** False when there was none. */
  readonly unpinTool: (name: string, version: string) => Promise<boolean>;
}
