export * from './canonical-json.ts';
export * from './codes.ts';
export * from './strict-json.ts';
export * from './gen/sallyport/v1/tool_service_pb.ts';
export * from './gen/sallyport/v1/tool_protocol_pb.ts';
export * from './gen/sallyport/v1/operator_service_pb.ts';
export * as health from './gen/grpc/health/v1/health_pb.ts';
export * as reflectionV1 from './gen/grpc/reflection/v1/reflection_pb.ts';
export * as reflectionV1Alpha from './gen/grpc/reflection/v1alpha/reflection_pb.ts';
