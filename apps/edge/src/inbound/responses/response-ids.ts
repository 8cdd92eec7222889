import { isRunId } from '@iop/domain';

const runPrefix = 'run_';
const responsePrefix = 'resp_';
const suffixLength = 26;

export function toResponseId(runId: string): string {
  return responsePrefix + runId.slice(runPrefix.length);
}

/** Undefined: no response of ours has such an id. */
export function toRunId(responseId: string): string | undefined {
  if (!responseId.startsWith(responsePrefix)) return undefined;
  const runId = runPrefix + responseId.slice(responsePrefix.length);
  return isRunId(runId) ? runId : undefined;
}

export type ItemPrefix = 'msg' | 'rs' | 'fc' | 'fco' | 'ctc' | 'ctco' | 'cmp' | 'item';

/** Of an item that a response gave: the same at every reading of its log. */
export function outputItemId(prefix: ItemPrefix, responseId: string, outputIndex: number): string {
  return `${prefix}_${suffixOf(responseId)}_${outputIndex}`;
}

/** Of an item that came without one. */
export function inputItemId(prefix: ItemPrefix, responseId: string, index: number): string {
  return `${prefix}_${suffixOf(responseId)}_in${index}`;
}

/** The call of a model that gives its calls no id. */
export function callId(responseId: string, index: number): string {
  return `call_${suffixOf(responseId)}_${index}`;
}

/** The response that an item is of, going by its id. */
export function responseOfItem(itemId: string): string | undefined {
  const suffix = /^[a-z]+_([0-9a-z]{26})_(?:in)?\d+$/.exec(itemId)?.[1];
  if (suffix === undefined) return undefined;
  const responseId = responsePrefix + suffix;
  return toRunId(responseId) === undefined ? undefined : responseId;
}

function suffixOf(responseId: string): string {
  return responseId.slice(responsePrefix.length, responsePrefix.length + suffixLength);
}
