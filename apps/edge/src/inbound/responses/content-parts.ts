import { type Fields, isObject } from '../http/problem.ts';
import type { ProblemBook } from './problem-book.ts';

/** Content of a message of a chat request. */
export type ChatContent = string | ChatPart[];
export type ChatPart = Fields & { type: string };

/** Content of an item, a string or parts, as chat upstreams take it: one text where there is nothing else in it. */
export function toChatContent(content: unknown, at: string, problems: ProblemBook): ChatContent {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) {
    problems.wrongType(at, 'a string or an array of parts', content);
    return '';
  }
  const parts = content.flatMap((part, index) => toChatPart(part, `${at}[${index}]`, problems));
  const texts = parts.flatMap((part) => (part.type === 'text' ? [String(part.text)] : []));
  return texts.length === parts.length ? texts.join('\n') : parts;
}

/** What of a content is words. */
export function textOf(content: ChatContent): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('\n');
}

function toChatPart(part: unknown, at: string, problems: ProblemBook): ChatPart[] {
  if (!isObject(part)) {
    problems.wrongType(at, 'an object', part);
    return [];
  }
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return toText(part.text, `${at}.text`, problems);
    case 'refusal':
      return toText(part.refusal, `${at}.refusal`, problems);
    case 'input_image':
      return toImage(part, at, problems);
    case 'input_file':
      return toFile(part, at, problems);
    case 'input_audio':
      return [{ type: 'input_audio', input_audio: part.input_audio }];
    default:
      problems.unsupported(
        `${at}.type`,
        `content of type ${JSON.stringify(part.type)} has no place in a chat`,
      );
      return [];
  }
}

function toText(text: unknown, at: string, problems: ProblemBook): ChatPart[] {
  if (typeof text === 'string') return [{ type: 'text', text }];
  problems.wrongType(at, 'a string', text);
  return [];
}

function toImage(
  { image_url: url, file_id: fileId, detail }: Fields,
  at: string,
  problems: ProblemBook,
): ChatPart[] {
  if (typeof url === 'string') {
    const isDetailed = typeof detail === 'string' && detail !== 'auto';
    return [{ type: 'image_url', image_url: { url, ...(isDetailed && { detail }) } }];
  }
  if (typeof fileId === 'string') problems.unsupported(`${at}.file_id`, `${noFiles}; send an \`image_url\``);
  else problems.wrongType(`${at}.image_url`, 'a string', url);
  return [];
}

function toFile(
  { file_data: data, filename, file_id: id, file_url: url }: Fields,
  at: string,
  problems: ProblemBook,
) {
  if (typeof data === 'string') {
    const name = typeof filename === 'string' ? { filename } : {};
    return [{ type: 'file', file: { ...name, file_data: data } }];
  }
  if (typeof id === 'string') problems.unsupported(`${at}.file_id`, `${noFiles}; send its \`file_data\``);
  else if (typeof url === 'string')
    problems.unsupported(`${at}.file_url`, 'nothing is fetched here; send its `file_data`');
  else problems.wrongType(`${at}.file_data`, 'a string', data);
  return [];
}

const noFiles = 'no files are kept here';
