// What calls the gate, wherever it runs: nothing here needs Node or the protobuf library.
export * from './call-result.ts';
export * from './execute-tool.ts';
export { joinChunks } from './frames.ts';
export * from './gate-client.ts';
export type * from './methods.ts';
export * from './trace-headers.ts';
export * from './transport.ts';
