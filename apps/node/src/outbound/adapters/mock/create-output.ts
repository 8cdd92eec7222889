import type { Clock } from '@iop/domain';
import type { ExecutionSpec } from '@iop/runtime';
import { CompletionJsonOutput, CompletionStreamOutput } from './completion-output.ts';
import { EmbeddingsOutput } from './embeddings-output.ts';
import { JsonOutput } from './json-output.ts';
import type { AnswerHead, MockOutput } from './mock-output.ts';
import type { MockRequest } from './mock-request.ts';
import { PromptOutput } from './prompt-output.ts';
import { RawOutput } from './raw-output.ts';
import { StreamOutput } from './stream-output.ts';

/** The way of answering that the request asks for. */
export function createOutput(spec: ExecutionSpec, request: MockRequest, clock: Clock): MockOutput {
  if (request.embeddings !== undefined) return new EmbeddingsOutput(spec.target, request.embeddings);
  if (spec.raw !== undefined) return new RawOutput(spec, spec.raw);
  if (spec.dialect === 'iop.prompt') return new PromptOutput();
  const isText = spec.dialect === 'openai.completions';
  const head: AnswerHead = {
    id: `${isText ? 'cmpl' : 'chatcmpl'}-${spec.runId}`,
    created: Math.floor(clock.wall() / 1000),
    model: spec.target,
    choices: request.choices,
    reasoningField: request.script.reasoning_field,
    includeUsage: spec.includeUsage,
  };
  if (isText) return spec.stream ? new CompletionStreamOutput(head) : new CompletionJsonOutput(head);
  return spec.stream ? new StreamOutput(head) : new JsonOutput(head);
}
