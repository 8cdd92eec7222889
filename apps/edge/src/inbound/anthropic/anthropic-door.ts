import type { EdgeDoor } from '../../core/door.ts';
import type { HttpRoutes } from '../http/http-port.ts';
import { createCountTokens } from './count-tokens.ts';
import { anthropicStyle } from './error-style.ts';
import { takeMessage } from './take-message.ts';

/** What Anthropic clients expect under `/v1`: messages, by whatever the model's adapter speaks. */
export function anthropicDoor(edge: EdgeDoor): HttpRoutes {
  return (port) => {
    const countTokens = createCountTokens(port, edge);
    port.route('POST', '/v1/messages', (exchange) => takeMessage(port, edge, exchange), anthropicStyle);
    port.route('POST', '/v1/messages/count_tokens', countTokens, anthropicStyle);
  };
}
