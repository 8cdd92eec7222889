import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTextTokens } from './text-tokens.ts';

const code = `export function createRouteTable(): RouteTable {
  const routes: TableRow[] = [];
  return {
    add: (route) => routes.push(route),
    allowed(path) {
      const methods = routes.filter(({ url }) => covers(url, path)).map(({ method }) => method);
      if (methods.length === 0) return undefined;
      return [...methods, 'OPTIONS'].join(', ');
    },
  };
}
`;

const schema = {
  type: 'function',
  function: {
    name: 'read_file',
    description: 'Reads a file of the workspace and returns its lines with their numbers.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Absolute path of the file.' },
        offset: { type: 'integer', minimum: 0 },
        limit: { type: 'integer', maximum: 2000 },
      },
      required: ['path'],
      additionalProperties: false,
    },
  },
};

const table = Array.from({ length: 20 }, (_, row) =>
  [row, `node-${row % 4}`, (row * 7919) % 1000, (row * 0.37).toFixed(2), `2026-11-${day(row)}`].join(','),
).join('\n');

function day(row: number): string {
  return String((row % 28) + 1).padStart(2, '0');
}

/** What the tokenizers of Qwen 3, gpt-oss and Llama 3.1 count. */
const counted: readonly { what: string; text: string; tokens: readonly [number, number, number] }[] = [
  {
    what: 'prose',
    text: 'A run is a durable thing of the Edge: started at one door, it can be watched from its first event, cancelled and found again at every other, and no restart or broken link loses, doubles or falsifies it. Nobody who asks for work has to know which machine will do it, how long the queue in front of it is, or whether the cable to it was pulled out a minute ago.',
    tokens: [83, 83, 83],
  },
  { what: 'code', text: code, tokens: [86, 87, 86] },
  { what: 'a tool as JSON', text: JSON.stringify(schema), tokens: [85, 84, 83] },
  {
    what: 'Korean',
    text: '엣지는 하나의 실행 그룹을 관리하며, 노드의 등록과 라우팅, 스트림 중계, 세션과 실행 기록을 책임진다. 컨트롤 플레인은 노드와 직접 통신하지 않으며, 엣지가 보고한 상태만을 보여 준다.',
    tokens: [74, 63, 65],
  },
  {
    what: 'German',
    text: 'Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller staatlichen Gewalt. Das Deutsche Volk bekennt sich darum zu unverletzlichen und unveräußerlichen Menschenrechten als Grundlage jeder menschlichen Gemeinschaft, des Friedens und der Gerechtigkeit in der Welt.',
    tokens: [80, 64, 81],
  },
  {
    what: 'Chinese',
    text: '人工智能是计算机科学的一个分支，它企图了解智能的实质，并生产出一种新的能以人类智能相似的方式做出反应的智能机器。该领域的研究包括机器人、语言识别、图像识别、自然语言处理和专家系统等。',
    tokens: [50, 64, 65],
  },
  { what: 'a table of numbers', text: table, tokens: [506, 359, 359] },
];

for (const { what, text, tokens } of counted) {
  test(`${what}: the estimate lies within a quarter of what real tokenizers count`, () => {
    const estimate = estimateTextTokens(text);
    const [least, most] = [Math.min(...tokens), Math.max(...tokens)];
    assert.ok(estimate >= least * 0.75 && estimate <= most * 1.25, `${estimate}, counted ${tokens}`);
  });
}

test('nothing has no tokens, and a text twice as long about twice as many', () => {
  assert.equal(estimateTextTokens(''), 0);
  const once = estimateTextTokens(code);
  assert.ok(Math.abs(estimateTextTokens(code + code) - 2 * once) <= 2);
});
