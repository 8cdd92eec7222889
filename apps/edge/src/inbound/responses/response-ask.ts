import { type Fields, isObject } from '../http/problem.ts';
import { planTools, type ToolPlan } from './tool-plan.ts';

/** A request for a response, as far as the Edge itself needs it. */
export interface ResponseAsk {
  /** As it was sent. */
  fields: Fields;
  model: string;
  stream: boolean;
  background: boolean;
  /** What the caller wants; undefined: it does not say, which means yes. */
  store: boolean | undefined;
  previousId: string | undefined;
  instructions: string;
  /** Input items as they were sent; a text is one message. */
  items: readonly Fields[];
  tools: ToolPlan;
}

/** Of fields in which nothing is wrong, or of a request that was taken once: nothing is checked here. */
export function readAsk(fields: Fields): ResponseAsk {
  const { model, stream, background, store, previous_response_id: previousId, instructions } = fields;
  return {
    fields,
    model: String(model),
    stream: stream === true,
    background: background === true,
    store: typeof store === 'boolean' ? store : undefined,
    previousId: typeof previousId === 'string' ? previousId : undefined,
    instructions: typeof instructions === 'string' ? instructions : '',
    items: readItems(fields.input),
    tools: planTools(fields.tools),
  };
}

function readItems(input: unknown): readonly Fields[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input.filter(isObject) : [];
}

/** Log probabilities are worth their bytes only to who asks for them. */
export function wantsLogprobs({ include, top_logprobs: top }: Fields): boolean {
  const isIncluded = Array.isArray(include) && include.includes('message.output_text.logprobs');
  return isIncluded || (typeof top === 'number' && top > 0);
}
