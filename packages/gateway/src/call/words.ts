/** What only operators need: their commands, the files of the rules, and the patterns in them. */
type Recipe = `${string}sallyport ${string}` | `${string}.yaml${string}` | `${string}$WORKSPACE${string}`;

/**
 * A text that agents read. It never tells how the gate would be opened: a literal that names a command of operators or a
 * file of the rules does not compile here. Such words belong in `forOperators`, which agents are never shown.
 */
export type ForEveryone<Text extends string> = Text extends Recipe ? 'Move this into forOperators.' : Text;
