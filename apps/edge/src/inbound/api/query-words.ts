import { runStates } from '@iop/domain';
import { type RunState, toWireRunState, UsageGroup } from '@iop/wire';
import { type ApiCall, invalid } from './api-call.ts';

/** `?state=queued,running` */
export function statesOf(call: ApiCall): RunState[] {
  const words = call.text('state').split(',');
  return words.filter((word) => word !== '').map(stateOf);
}

function stateOf(word: string): RunState {
  const state = runStates.find((known) => known === word);
  if (state !== undefined) return toWireRunState(state);
  throw invalid('request.query', `?state takes ${runStates.join(', ')}, not ${word.slice(0, 40)}`);
}

const groups: Readonly<Record<string, UsageGroup>> = {
  '': UsageGroup.KEY,
  key: UsageGroup.KEY,
  model: UsageGroup.MODEL,
  node: UsageGroup.NODE,
};

/** `?by=key` */
export function groupOf(call: ApiCall): UsageGroup {
  const word = call.text('by');
  const group = groups[word];
  if (group !== undefined) return group;
  throw invalid('request.query', `?by takes key, model, node, not ${word.slice(0, 40)}`);
}

/** `?since=1764000000000` */
export function sinceOf(call: ApiCall): string {
  const text = call.text('since');
  if (/^\d{0,16}$/.test(text)) return text;
  throw invalid('request.query', `?since takes milliseconds since 1970, not ${text.slice(0, 40)}`);
}
