export { type ChatPiece, ChatReader } from './chat-reader.ts';
export { connectOperator, type OperatorAddress, type OperatorOptions } from './connect-operator.ts';
export { toEventJson } from './event-json.ts';
export { type KeyPolicy, type KeyView, noLimits } from './key-view.ts';
export type { OperatorClient, RunFilter } from './operator-client.ts';
export type { RunOrder, RunUpdate, StartedRun } from './started-run.ts';
export type { AliasView, FactView, LoadView, PlaceView, TargetView } from './target-view.ts';
export { type UsageFilter, type UsageView, usageGroups } from './usage-view.ts';
export type { AdapterView, NodeView, RunView } from './views.ts';
