import { type Fields, isFields, type ProblemList } from './problem-list.ts';

export interface OllamaContent {
  content: string;
  /** Base64 without a prefix. */
  images?: string[];
}

/** Content of a message, a string or parts, as Ollama takes it: one text, and images beside it. */
export function readContent(content: unknown, at: string, problems: ProblemList): OllamaContent {
  if (typeof content === 'string') return { content };
  if (content === undefined || content === null) return { content: '' };
  if (!Array.isArray(content)) {
    problems.invalid(at, 'a string or an array of parts');
    return { content: '' };
  }
  const texts: string[] = [];
  const images: string[] = [];
  for (const [index, part] of content.entries()) {
    readPart(part, { texts, images, problems, at: `${at}[${index}]` });
  }
  return { content: texts.join('\n'), ...(images.length > 0 && { images }) };
}

interface PartPlace {
  texts: string[];
  images: string[];
  problems: ProblemList;
  at: string;
}

function readPart(part: unknown, { texts, images, problems, at }: PartPlace): void {
  if (!isFields(part)) {
    problems.invalid(at, 'an object');
    return;
  }
  const text = part.type === 'refusal' ? part.refusal : part.text;
  switch (part.type) {
    case 'text':
    case 'refusal':
      if (typeof text === 'string') texts.push(text);
      else problems.invalid(at, 'a text');
      return;
    case 'image_url': {
      const image = readImage(part, at, problems);
      if (image !== undefined) images.push(image);
      return;
    }
    default:
      problems.unsupported(at, `content of type ${JSON.stringify(part.type)} cannot be given to Ollama`);
  }
}

function readImage(part: Fields, at: string, problems: ProblemList): string | undefined {
  const url = isFields(part.image_url) ? part.image_url.url : part.image_url;
  const param = `${at}.image_url`;
  if (typeof url !== 'string') {
    problems.invalid(param, 'an object with a url');
    return undefined;
  }
  const match = /^data:[^,]{0,256};base64,/i.exec(url);
  if (match !== null) {
    const data = url.slice(match[0].length);
    if (data !== '' && isBase64(data)) return data;
    problems.invalid(param, 'base64 after the comma');
    return undefined;
  }
  const what = /^data:/i.test(url) ? 'data that is not base64' : 'images elsewhere';
  problems.unsupported(
    param,
    `${what} cannot be given to Ollama and nothing is fetched here; send it as data:image/png;base64,…`,
  );
  return undefined;
}

/** By what must not be in it: what is may be megabytes, too many for a pattern that has to step back. */
function isBase64(text: string): boolean {
  return !/[^A-Za-z0-9+/=]/.test(text);
}
