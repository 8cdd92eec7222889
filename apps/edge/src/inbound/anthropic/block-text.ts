import { type Fields, isObject } from '../http/problem.ts';
import { type ChatPart, textPart } from './chat-message.ts';

/** Blocks of a content; a text is one block. */
export function blocksOf(content: unknown): readonly Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** What a model can be shown of a text, image, document, search result or tool reference. */
export function toParts(block: Fields): ChatPart[] {
  switch (block.type) {
    case 'text':
      return [textPart(String(block.text))];
    case 'image':
      return [{ type: 'image_url', image_url: { url: imageUrl(block.source) } }];
    case 'document':
      return documentParts(block);
    case 'search_result':
      return titled(`${block.title} (${block.source})`, blocksOf(block.content).flatMap(toParts));
    case 'tool_reference':
      return [textPart(`The tool ${block.tool_name} can be called from now on.`)];
    default:
      return [];
  }
}

function documentParts({ source, title, context }: Fields): ChatPart[] {
  const { type, data, content } = isObject(source) ? source : {};
  const parts = type === 'text' ? [textPart(String(data))] : blocksOf(content).flatMap(toParts);
  const heads = [title, context].filter((head) => typeof head === 'string' && head !== '');
  return heads.length === 0 ? parts : titled(heads.join('\n'), parts);
}

function titled(title: string, parts: readonly ChatPart[]): ChatPart[] {
  return [textPart(title), ...parts];
}

function imageUrl(source: unknown): string {
  const { type, url, media_type: mediaType, data } = isObject(source) ? source : {};
  return type === 'url' ? String(url) : `data:${mediaType};base64,${data}`;
}
