import type { Clock } from '@iop/domain';
import type { Log } from '@iop/shell';
import type { AnswerUsage } from '../../dialects/answer-part.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpTimes } from '../http/http-config.ts';
import { headerText } from '../http/place-headers.ts';
import type { TranslatedRequest } from './chat-request.ts';
import { type MessageIdentity, toMessageId } from './message-words.ts';

/** What an answer is made with. */
export interface MessageInit {
  exchange: Exchange;
  clock: Clock;
  times: HttpTimes;
  log: Log;
  request: TranslatedRequest;
  /** Of the message while nobody has counted yet. */
  firstUsage(): AnswerUsage;
}

export function messageIdentity({ exchange, request }: MessageInit): MessageIdentity {
  const { model, unsupportedTools } = request;
  return { id: toMessageId(exchange.runId ?? exchange.requestId), model, unsupportedTools };
}

/** Header fields that name what cannot be served. */
export function unsupportedFields({ unsupportedTools }: TranslatedRequest): readonly string[] {
  return unsupportedTools.length === 0
    ? []
    : ['x-iop-unsupported-tools', headerText(unsupportedTools.join(', '))];
}
