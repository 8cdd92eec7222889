import type { OperatorRequest, OperatorResponse } from '@iop/wire';
import type { Door } from '../core/door.ts';
import type { Edge } from '../core/edge.ts';

/** What an operator asks and is told in one message each; a start among them is a detached one. */
export type Request = Exclude<OperatorRequest['request'], { case: undefined | 'watchRun' }>;
export type Response = Exclude<OperatorResponse['response'], { case: undefined }>;

/** Who asks, for records: an operator of that name, or an API key. */
export interface Asker {
  door: Door;
  name: string;
}

/** As much of the Edge as operators see. */
export type OperatorEdge = Omit<Edge, 'nodes' | 'counters' | 'configure' | 'settings' | 'stop' | 'gauges'>;
