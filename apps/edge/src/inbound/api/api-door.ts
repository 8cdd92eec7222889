import type { OperatorEdge } from '../../operator-requests/question.ts';
import type { HttpRoutes } from '../http/http-port.ts';
import { apiStyle } from './api-style.ts';
import { createTakeCall } from './take-call.ts';

/** What operators can ask, under `/api/v1`: the messages of the wire in protobuf JSON, watches as SSE. */
export function apiDoor(edge: OperatorEdge): HttpRoutes {
  return (port) => {
    const take = createTakeCall(port, edge);
    for (const method of ['GET', 'POST', 'DELETE'] as const) {
      port.route(method, '/api/v1/*', (exchange, path) => take(exchange, { method, path }), apiStyle);
    }
  };
}
