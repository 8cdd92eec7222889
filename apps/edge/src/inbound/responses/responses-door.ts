import type { EdgeDoor } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort, HttpRoutes } from '../http/http-port.ts';
import { takeBody } from '../http/take-body.ts';
import { compactResponse } from './compact-response.ts';
import { createResponse } from './create-response.ts';
import { cancel, listInputItems, remove, retrieve } from './kept-requests.ts';
import { answerLater, type Called } from './responses-port.ts';

/** What is asked of one response: the id, and the rest of the path behind it. */
interface Asked {
  id: string;
  action: string;
}

/** `/v1/responses` and what lies below it. */
export function responsesDoor(edge: EdgeDoor): HttpRoutes {
  return (port) => {
    const table = { port, edge };
    port.route('POST', '/v1/responses', (exchange) => {
      takeBody({ ...table, exchange }, ({ keyId, ...body }) => {
        createResponse({ ...table, exchange, keyId }, body);
      });
    });
    port.route('GET', '/v1/responses/*', (exchange, rest) => {
      const { id, action } = split(rest);
      if (action === '') ask(table, exchange, (called) => retrieve(called, id));
      else if (action === 'input_items') ask(table, exchange, (called) => listInputItems(called, id));
      else port.answerUnmatched(exchange);
    });
    port.route('POST', '/v1/responses/*', (exchange, rest) => {
      const { id, action } = split(rest);
      if (rest === 'compact') {
        takeBody({ ...table, exchange }, ({ keyId, bytes }) => {
          const called = { ...table, exchange, keyId };
          answerLater(called, () => compactResponse(called, bytes));
        });
      } else if (action === 'cancel') {
        takeBody({ ...table, exchange }, ({ keyId }) => {
          const called = { ...table, exchange, keyId };
          answerLater(called, () => cancel(called, id));
        });
      } else port.answerUnmatched(exchange);
    });
    port.route('DELETE', '/v1/responses/*', (exchange, rest) => {
      const { id, action } = split(rest);
      if (action === '') ask(table, exchange, (called) => remove(called, id));
      else port.answerUnmatched(exchange);
    });
  };
}

function split(rest: string): Asked {
  const [id = '', action = '', ...more] = rest.replace(/\/$/, '').split('/');
  return { id, action: [action, ...more].join('/') };
}

/** A request without a body. */
function ask(
  { port, edge }: { port: HttpPort; edge: EdgeDoor },
  exchange: Exchange,
  answer: (called: Called) => Promise<void>,
): void {
  const caller = port.checkCaller(exchange.req);
  if (caller.kind === 'refused') {
    exchange.refuse(caller.refusal);
    return;
  }
  const called: Called = { port, edge, exchange, keyId: caller.keyId };
  answerLater(called, () => answer(called));
}
