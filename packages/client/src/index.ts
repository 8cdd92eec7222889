export { type ChatPiece, ChatReader } from './chat-reader.ts';
export { connectOperator, type OperatorAddress, type OperatorOptions } from './connect-operator.ts';
export { toEventJson } from './event-json.ts';
export type { OperatorClient, RunFilter } from './operator-client.ts';
export type { RunOrder, RunUpdate, StartedRun } from './started-run.ts';
export type { AdapterView, KeyView, NodeView, RunView, TargetView } from './views.ts';
