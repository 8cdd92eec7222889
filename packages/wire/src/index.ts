export * from './gen/iop/wire/v1/envelope_pb.ts';
export * from './gen/iop/wire/v1/handshake_pb.ts';
export * from './gen/iop/wire/v1/life_pb.ts';
export * from './gen/iop/wire/v1/node_pb.ts';
export * from './gen/iop/wire/v1/operator_pb.ts';
export * from './gen/iop/wire/v1/run_pb.ts';
