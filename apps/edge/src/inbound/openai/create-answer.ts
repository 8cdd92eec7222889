import type { RunIntent } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import type { RunShape } from './run-shape.ts';
import { StreamAnswer } from './stream-answer.ts';
import { WholeAnswer } from './whole-answer.ts';

export type RunAnswer = StreamAnswer | WholeAnswer;

export interface CreateAnswerInit {
  port: HttpPort;
  exchange: Exchange;
  shape: RunShape;
  intent: Pick<RunIntent, 'select' | 'stream' | 'includeUsage' | 'raw'>;
  /** Number of the last event of the stream that the caller has already. */
  afterNumber?: number;
}

/** The one who shows a run to the caller of this exchange. */
export function createAnswer({
  port,
  exchange,
  shape,
  intent,
  afterNumber = 0,
}: CreateAnswerInit): RunAnswer {
  const { clock, times, log } = port;
  const { select, stream, includeUsage, raw } = intent;
  const model = select.kind === 'model' ? select.model : select.target;
  const init = { exchange, clock, times, log, shape, model, stream, includeUsage, afterNumber };
  // Nobody here knows the events of a raw stream, so nothing can be put between them.
  const isEvents = stream && raw === undefined;
  return isEvents ? new StreamAnswer(init) : new WholeAnswer(init);
}
