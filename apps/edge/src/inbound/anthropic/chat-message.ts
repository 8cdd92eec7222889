/** Messages of a chat request, as far as this door writes them. */
export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ChatPart[] }
  | AssistantMessage
  | { role: 'tool'; tool_call_id: string; content: string };

export interface AssistantMessage {
  role: 'assistant';
  content: string | null;
  reasoning_content?: string;
  tool_calls?: ChatCall[];
}

export type ChatPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

export interface ChatCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export interface ChatTool {
  type: 'function';
  function: { name: unknown; description?: string; parameters: unknown; strict?: true };
}

export function textPart(text: string): ChatPart {
  return { type: 'text', text };
}

/** Engines whose template takes texts only are asked with a text wherever there is nothing else. */
export function toUserContent(parts: readonly ChatPart[]): string | ChatPart[] {
  const texts = parts.map((part) => (part.type === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? [...parts] : texts.join('\n');
}
