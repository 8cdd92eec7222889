export { type FakeEdge, type FakeEdgeOptions, type FakeReply, startFakeEdge } from './fake-edge.ts';
