/**
 * A message as the gate writes it in JSON: every field is there, with its default if need be, except one that the contract
 * marks as optional or that is a message; 64-bit numbers are text. Types only: programs that read JSON need no protobuf
 * library. For messages without a oneof, whose JSON has other names: there, the generated JSON types say it.
 */
export type InJson<Message> = {
  readonly [Field in keyof Message as Field extends '$typeName' | '$unknown' ? never : Field]: ValueInJson<
    Message[Field]
  >;
};

type ValueInJson<Value> = Value extends undefined
  ? never
  : Value extends bigint
    ? string
    : Value extends string | number | boolean
      ? Value
      : Value extends readonly (infer Item)[]
        ? readonly ValueInJson<Item>[]
        : InJson<Value>;
