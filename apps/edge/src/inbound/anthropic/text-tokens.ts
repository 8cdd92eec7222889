/**
 * How many tokens a text has for a model of today, by a rule: about as many as a vocabulary of 100,000 to 260,000 pieces
 * gives. A word has one token and a further one for every so many letters; three digits have one; marks go together
 * by twos; line ends take the space around them along; letters of scripts without spaces are counted singly.
 */
export function estimateTextTokens(text: string): number {
  let tokens = 0;
  let at = 0;
  while (at < text.length) {
    const kind = kindOf(text.charCodeAt(at));
    let end = at + 1;
    while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end += 1;
    tokens += ofRun(kind, text, at, end);
    at = end;
  }
  return Math.ceil(tokens);
}

type Kind = 'letters' | 'digits' | 'space' | 'lines' | 'marks' | 'other-letters' | 'signs';

function kindOf(code: number): Kind {
  if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) return 'letters';
  if (code === 32 || code === 9) return 'space';
  if (code === 10 || code === 13) return 'lines';
  if (code >= 48 && code <= 57) return 'digits';
  if (code < 128) return 'marks';
  return code < 0x2e80 ? 'other-letters' : 'signs';
}

function ofRun(kind: Kind, text: string, at: number, end: number): number {
  const length = end - at;
  switch (kind) {
    case 'letters':
      return ofWord(text, at, end);
    case 'space':
      // one space belongs to the word behind it
      return length === 1 ? 0 : 1;
    case 'lines':
      return 1;
    case 'digits':
      return Math.ceil(length / 2);
    case 'marks':
      return Math.ceil(length / 2);
    case 'other-letters':
      return length / 2.2;
    case 'signs':
      return length * 0.8;
  }
}

/** camelCase is several words. */
function ofWord(text: string, at: number, end: number): number {
  let tokens = 0;
  let start = at;
  for (let index = at + 1; index <= end; index++) {
    const isCut = index === end || (isUpper(text, index) && !isUpper(text, index - 1));
    if (!isCut) continue;
    const length = index - start;
    tokens += length <= 8 ? 1 : 1 + (length - 8) / 6;
    start = index;
  }
  return tokens;
}

function isUpper(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 65 && code <= 90;
}
