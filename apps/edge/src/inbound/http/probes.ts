import type { Metrics } from '@iop/shell';
import type { EdgeDoor } from '../../core/door.ts';
import type { Exchange } from './exchange.ts';
import type { HttpPort, HttpRoutes } from './http-port.ts';

export interface ProbeDeps {
  edge: Pick<EdgeDoor, 'readiness'>;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
}

/** `/healthz`: the process answers. `/readyz`: it can take work. `/metrics`: how it is doing. */
export function probeRoutes(deps: ProbeDeps): HttpRoutes {
  return (port) => {
    port.route('GET', '/healthz', (exchange) => exchange.json(200, { status: 'ok' }));
    port.route('GET', '/readyz', (exchange) => {
      const { ready, detail } = deps.edge.readiness();
      exchange.json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', detail });
    });
    port.route('GET', '/metrics', (exchange) => answerMetrics(deps, port, exchange));
  };
}

/** A scraper on this machine needs no key; one that comes over the network, or through a proxy, does. */
function answerMetrics(deps: ProbeDeps, port: HttpPort, exchange: Exchange): void {
  if (!exchange.client.isLocal) {
    const caller = port.checkCaller(exchange.req);
    if (caller.kind === 'refused') {
      exchange.refuse(caller.refusal);
      return;
    }
  }
  deps.metrics.text().then(
    (text) => exchange.answer(200, ['content-type', deps.metrics.contentType], text),
    (reason: unknown) => {
      port.log.error({ requestId: exchange.requestId, reason: String(reason) }, 'metrics cannot be read');
      exchange.refuse({
        status: 500,
        message: 'The metrics cannot be read.',
        type: 'server_error',
        code: 'internal',
      });
    },
  );
}
