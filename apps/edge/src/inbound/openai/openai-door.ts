import type { EdgeDoor } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort, HttpRoutes } from '../http/http-port.ts';
import { takeChatCompletion } from './chat-completions.ts';
import { answerModel, answerModels } from './models.ts';

/** What OpenAI clients expect under `/v1`. */
export function openaiDoor(edge: EdgeDoor): HttpRoutes {
  return (port) => {
    port.route('GET', '/v1/models', (exchange) => {
      if (isKnown(port, exchange)) answerModels(exchange, edge);
    });
    port.route('GET', '/v1/models/*', (exchange, name) => {
      if (isKnown(port, exchange)) answerModel(exchange, edge, name);
    });
    port.route('POST', '/v1/chat/completions', takeChatCompletion(port, edge));
  };
}

function isKnown(port: HttpPort, exchange: Exchange): boolean {
  const caller = port.checkCaller(exchange.req);
  if (caller.kind === 'refused') exchange.refuse(caller.refusal);
  return caller.kind === 'known';
}
