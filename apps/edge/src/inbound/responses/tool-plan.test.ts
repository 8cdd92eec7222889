import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toChatBody } from './chat-body.ts';
import { readAsk } from './response-ask.ts';
import { chooseTools } from './tool-choice.ts';
import { planTools, unservedWords } from './tool-plan.ts';

const parameters = { type: 'object', properties: {} };
const run = { type: 'function', name: 'run', description: 'Runs.', parameters, strict: true };
const space = {
  type: 'namespace',
  name: 'mcp__files',
  description: 'Files',
  tools: [run, { type: 'custom', name: 'edit' }],
};
const patch = {
  type: 'custom',
  name: 'patch',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "+"' },
};

test('functions keep their names; those of a namespace get its name in front', () => {
  const { chatTools, called } = planTools([run, space]);
  assert.deepEqual(
    chatTools.map((tool) => tool.function.name),
    ['run', 'mcp__files__run', 'mcp__files__edit'],
  );
  assert.deepEqual(chatTools[0], {
    type: 'function',
    function: { name: 'run', description: 'Runs.', parameters, strict: true },
  });
  assert.deepEqual(called.get('mcp__files__run'), { kind: 'function', name: 'run', namespace: 'mcp__files' });
});

test('names of namespaces are never the same and never too long', () => {
  const spaces = ['a', 'a.', 'b'.repeat(70)].map((name) => ({ ...space, name, tools: [run] }));
  const names = planTools([{ ...run, name: 'a__run' }, ...spaces]).chatTools.map(
    (tool) => tool.function.name,
  );
  assert.equal(new Set(names).size, 4);
  for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
});

test('a tool of free text is a function of one text, its grammar in words', () => {
  const [tool] = planTools([patch]).chatTools;
  assert.match(JSON.stringify(tool?.function.parameters), /"properties":\{"input":\{"type":"string"\}\}/);
  assert.match(tool?.function.description ?? '', /grammar \(lark\):\nstart: "\+"/);
});

test('what cannot be served is named, and nothing else is shown as served', () => {
  const mcp = { type: 'mcp', server_label: 's' };
  const odd = { ...space, tools: [{ type: 'code_interpreter' }, run] };
  const plan = planTools([{ type: 'web_search' }, mcp, odd, { type: 'namespace', name: 'empty', tools: [] }]);
  assert.equal(unservedWords(plan.unserved), 'web_search, mcp, code_interpreter, namespace:empty');
  assert.deepEqual(
    plan.served.map(({ type }) => type),
    ['namespace'],
  );
});

test('the model is told a choice in the words of a chat', () => {
  const plan = planTools([run, space, patch]);
  const choiceOf = (choice: unknown) => {
    const outcome = chooseTools(choice, plan);
    assert.ok(outcome.kind === 'chosen');
    return [outcome.tools.choice, outcome.tools.chatTools.length];
  };
  assert.deepEqual(choiceOf(undefined), [undefined, 4]);
  assert.deepEqual(choiceOf('none'), ['none', 4]);
  assert.deepEqual(choiceOf('required'), ['required', 4]);
  assert.deepEqual(choiceOf({ type: 'function', name: 'run' }), [named('run'), 4]);
  assert.deepEqual(choiceOf({ type: 'function', name: 'run', namespace: 'mcp__files' }), [
    named('mcp__files__run'),
    4,
  ]);
  assert.deepEqual(choiceOf({ type: 'custom', name: 'patch' }), [named('patch'), 4]);
  const tools = [{ type: 'function', name: 'run' }, { type: 'web_search' }];
  assert.deepEqual(choiceOf({ type: 'allowed_tools', mode: 'required', tools }), ['required', 1]);
});

function named(name: string) {
  return { type: 'function', function: { name } };
}

test('a choice that cannot be kept is a problem', () => {
  const plan = planTools([run, { type: 'web_search' }]);
  const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] };
  for (const choice of [
    { type: 'web_search' },
    { type: 'function', name: 'no' },
    { type: 'mcp' },
    'all',
    allowed,
  ])
    assert.equal(chooseTools(choice, plan).kind, 'problem', JSON.stringify(choice));
  assert.equal(chooseTools('required', planTools([{ type: 'web_search' }])).kind, 'problem');
  assert.equal(chooseTools('none', planTools([])).kind, 'chosen');
});

test('calls of earlier turns are told under the names that the model knows', () => {
  const input = [
    { role: 'user', content: 'hi' },
    { type: 'function_call', call_id: 'a', name: 'run', namespace: 'mcp__files', arguments: '{}' },
    { type: 'function_call', call_id: 'b', name: 'run', arguments: '{}' },
    { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: '+a' },
    { type: 'function_call', call_id: 'd', name: 'gone', arguments: '{}' },
  ];
  const outcome = toChatBody(readAsk({ model: 'm', input, tools: [run, space, patch] }), []);
  assert.ok(outcome.kind === 'body');
  const [, turn] = outcome.fields.messages as { tool_calls: { function: object }[] }[];
  assert.deepEqual(
    turn?.tool_calls.map((call) => call.function),
    [
      { name: 'mcp__files__run', arguments: '{}' },
      { name: 'run', arguments: '{}' },
      { name: 'patch', arguments: '{"input":"+a"}' },
      { name: 'gone', arguments: '{}' },
    ],
  );
});
