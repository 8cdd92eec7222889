import type { Outcome } from '../history/ask.ts';

interface ResponseObject {
  status: string;
  output: { type: string; content?: { type: string; text?: string }[] }[];
  usage?: { input_tokens: number; output_tokens: number } | null;
  error?: { code: string } | null;
}

/** Undefined: it has not ended. */
export function judgeResponse(text: string): Outcome | undefined {
  const response = JSON.parse(text) as ResponseObject;
  return ['queued', 'in_progress'].includes(response.status) ? undefined : outcomeOf(response);
}

export function judgeResponseStream(text: string): Outcome {
  const events = text
    .split('\n\n')
    .map((event) => /^data: (.*)$/m.exec(event)?.[1])
    .filter((data) => data !== undefined)
    .map((data) => JSON.parse(data) as StreamEvent);
  const content = events
    .map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : ''))
    .join('');
  const disorder = events.findIndex((event, index) => event.sequence_number !== index);
  if (disorder >= 0) return broken(content, `sequence-${disorder}-is-${events[disorder]?.sequence_number}`);
  const last = events.at(-1);
  if (last?.response === undefined) return broken(content, last?.code ?? '');
  const outcome = outcomeOf(last.response);
  const isOtherText = outcome.kind === 'whole' && outcome.content !== content;
  return isOtherText ? broken(content, 'deltas-differ-from-response') : outcome;
}

interface StreamEvent {
  type: string;
  sequence_number: number;
  delta?: string;
  response?: ResponseObject;
  code?: string;
}

function outcomeOf({ status, output, usage, error }: ResponseObject): Outcome {
  const content = output
    .flatMap((item) => (item.type === 'message' ? (item.content ?? []) : []))
    .map((part) => part.text ?? '')
    .join('');
  if (status !== 'completed') return broken(content, error?.code ?? status);
  const count = usage ? { prompt: usage.input_tokens, completion: usage.output_tokens } : undefined;
  return { kind: 'whole', content, usage: count, transcript: undefined };
}

function broken(content: string, code: string): Outcome {
  return { kind: 'broken', content, code, transcript: undefined };
}
