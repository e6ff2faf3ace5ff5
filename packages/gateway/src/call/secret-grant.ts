/** Leave for a tool to use a stored secret, as it stands under `secrets` in a rule. */
export interface SecretGrant {
  /** Of the secret. */
  readonly name: string;
  /** Canonical tool names; `*` stands for any text. */
  readonly tools: readonly string[];
  /** Hosts the value may be sent to, `*.example.com` for all below one. Empty: it is handed to the tool itself. */
  readonly hosts: readonly string[];
  /** The header that carries the value to these hosts. Absent: no tool of the gate's own sends it. */
  readonly header?: SecretHeader;
}

export interface SecretHeader {
  readonly name: string;
  /** Stands before the value, such as `Bearer`. Absent: the value stands alone. */
  readonly scheme?: string;
}

/** Who asks for secrets: a tool, and the host it is about to speak to. */
export interface SecretUse {
  readonly tool: string;
  /** Absent: the tool itself gets the value, for example in its environment. */
  readonly host?: string;
}
