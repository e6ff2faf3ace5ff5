// For writing tools. What calls tools is in `@sallyport/sdk/client`, what tests them in `@sallyport/sdk/testing`.
export * from './schema.ts';
export type { Json, JsonObject } from './json.ts';
export { InvalidInput, InvalidOutput } from './run-tool.ts';
export { serveTool, toolExitCodes } from './serve-tool.ts';
export { defineTool, ToolError } from './tool.ts';
export type { Tool, ToolRequests, ToolSpec } from './tool.ts';
