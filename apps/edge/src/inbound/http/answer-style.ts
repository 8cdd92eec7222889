import { encodeError, type Refusal } from './refusal.ts';

/** How the clients of one door want to be told what is no answer of that door. */
export interface AnswerStyle {
  /** Body of a refusal, JSON. */
  encodeError(refusal: Refusal, requestId: string): string;
  /** Header under which they look for the id of the request, beside `x-request-id`. */
  requestIdHeader?: string;
}

export const openaiStyle: AnswerStyle = { encodeError };
