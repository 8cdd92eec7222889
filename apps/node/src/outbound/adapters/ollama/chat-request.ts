import type { ExecutionSpec } from '@iop/runtime';
import { refuseUnsupported, toFormat, toThink, toTools } from './chat-extras.ts';
import { type OllamaMessage, toOllamaMessages } from './chat-messages.ts';
import {
  encodeRequest,
  type RequestOutcome,
  type RequestSettings,
  type Translate,
  translateRequest,
} from './ollama-request.ts';

/** The request of a run as the body of `POST /api/chat`, or all that is wrong with it. */
export function toOllamaChat(spec: ExecutionSpec, settings: RequestSettings): RequestOutcome {
  const { target, body: bytes } = spec;
  const translate = chatTranslation(settings);
  if (spec.dialect !== 'iop.prompt') return translateRequest({ bytes, target, settings }, translate);
  const content = new TextDecoder().decode(bytes);
  return encodeRequest({ messages: [{ role: 'user', content }] }, { target, settings }, translate);
}

function chatTranslation(settings: RequestSettings): Translate {
  return (body, problems) => {
    refuseUnsupported(body, problems);
    const messages = toOllamaMessages(body.messages, problems);
    // O8: an error instead of an answer to half the question.
    const fields: Record<string, unknown> = { messages, stream: true, truncate: false, shift: false };
    const tools = toTools(body, problems);
    if (tools.length > 0) fields.tools = tools;
    const format = toFormat(body, problems);
    if (format !== undefined) fields.format = format;
    const think = toThink(body, problems) ?? settings.think;
    if (think !== undefined) fields.think = think;
    return { fields, textLength: textLengthOf(messages) };
  };
}

function textLengthOf(messages: readonly OllamaMessage[]): number {
  return messages.reduce((length, { content }) => length + content.length, 0);
}
