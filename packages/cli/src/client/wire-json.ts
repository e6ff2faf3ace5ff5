import type * as contract from '@sallyport/contract';

/**
 * Protobuf messages as proto3 JSON spells them: fields with their default value are left out, 64-bit numbers are
 * strings. Types only: loading the message library would double the time a command takes.
 */
export type WireJson<Message> = {
  readonly [Field in keyof Message as Field extends '$typeName' | '$unknown' ? never : Field]?: ValueJson<
    Message[Field]
  >;
};

type ValueJson<Value> = Value extends bigint
  ? string
  : Value extends string | number | boolean
    ? Value
    : Value extends readonly (infer Item)[]
      ? readonly ValueJson<Item>[]
      : Value extends object
        ? WireJson<Value>
        : never;

export type ExecuteToolRequestJson = WireJson<contract.ExecuteToolRequest>;
export type ProgressJson = WireJson<contract.Progress>;
export type ApprovalNeedJson = WireJson<contract.ApprovalNeed>;
export type DeniedJson = WireJson<contract.Denied>;
export type ToolDescriptorJson = WireJson<contract.ToolDescriptor>;
export type ListAvailableToolsRequestJson = WireJson<contract.ListAvailableToolsRequest>;
export type ListAvailableToolsResponseJson = WireJson<contract.ListAvailableToolsResponse>;
export type GetToolSchemaResponseJson = WireJson<contract.GetToolSchemaResponse>;
export type GetStatusResponseJson = WireJson<contract.GetStatusResponse>;
export type VerifyAuditResponseJson = WireJson<contract.VerifyAuditResponse>;
export type ReadAuditResponseJson = WireJson<contract.ReadAuditResponse>;
export type AuditRecordJson = WireJson<contract.AuditRecord>;

/** The cases of a oneof are fields beside the others. */
export type ExecuteToolResponseJson = WireJson<Omit<contract.ExecuteToolResponse, 'result'>> & {
  readonly success?: WireJson<contract.Success>;
  readonly denied?: DeniedJson;
  readonly error?: WireJson<contract.Failure>;
};
