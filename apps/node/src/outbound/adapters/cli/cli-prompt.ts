import type { CliProfile } from '@iop/cli-profile';
import type { RunFailure } from '@iop/domain';
import type { ExecutionSpec } from '@iop/runtime';
import { cliFailure } from './exit-verdict.ts';

export type ReadPrompt = { kind: 'prompt'; text: string } | { kind: 'refused'; failure: RunFailure };

/** One argument may have 128 KiB with its NUL (`MAX_ARG_STRLEN` on Linux). */
const maxArgumentBytes = 128 * 1024 - 1;

/** The prompt that a program is given for this request, or why it cannot be given one. */
export function readPrompt(spec: ExecutionSpec, profile: CliProfile): ReadPrompt {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(spec.body);
  } catch {
    return refused('request.invalid-text', 'the request is not UTF-8');
  }
  const read = spec.dialect === 'iop.prompt' ? prompt(text) : readChat(text, profile.messages);
  return read.kind === 'prompt' ? checkPrompt(read.text, profile) : read;
}

function checkPrompt(text: string, profile: CliProfile): ReadPrompt {
  if (text.includes('\0')) return refused('request.nul', 'the prompt holds a NUL, which no program is given');
  const isArgument = profile.prompt === 'argument';
  if (isArgument && Buffer.byteLength(text) > maxArgumentBytes) {
    const message = `the prompt has ${Buffer.byteLength(text)} bytes; as an argument it may have ${maxArgumentBytes} (the profile can take it by stdin)`;
    return refused('request.too-long', message);
  }
  return prompt(text);
}

function readChat(text: string, mode: CliProfile['messages']): ReadPrompt {
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return refused('request.invalid-json', `the request body is not JSON: ${(error as Error).message}`);
  }
  const messages: unknown = body?.messages;
  if (!Array.isArray(messages) || messages.length === 0)
    return refused('request.invalid', 'messages: expected a list of at least one message');
  if (typeof body.n === 'number' && body.n > 1)
    return unsupported(`n: a program gives one answer, not ${body.n}`);
  const turns: Turn[] = [];
  for (const [at, message] of messages.entries()) {
    const turn = readTurn(message, at);
    if ('kind' in turn) return turn;
    turns.push(turn);
  }
  return mode === 'transcript' ? prompt(transcript(turns)) : lastMessage(turns);
}

interface Turn {
  role: string;
  text: string;
}

function readTurn(message: unknown, at: number): Turn | Extract<ReadPrompt, { kind: 'refused' }> {
  const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
  if (typeof role !== 'string') return refused('request.invalid', `messages.${at}.role: expected a text`);
  if (typeof content === 'string') return { role, text: content };
  if (!Array.isArray(content)) return { role, text: '' };
  const texts: string[] = [];
  for (const part of content as { type?: unknown; text?: unknown }[]) {
    if (typeof part?.text !== 'string')
      return unsupported(
        `messages.${at}.content: a program is given text, not ${JSON.stringify(part?.type)}`,
      );
    texts.push(part.text);
  }
  return { role, text: texts.join('') };
}

const isSystem = ({ role }: Turn) => role === 'system' || role === 'developer';

function lastMessage(turns: readonly Turn[]): ReadPrompt {
  const last = turns.findLast((turn) => turn.role === 'user');
  if (last === undefined) return refused('request.invalid', 'messages: expected one of the role user');
  return prompt([...turns.filter(isSystem), last].map((turn) => turn.text).join('\n\n'));
}

/** System text first, then each message under its role. */
function transcript(turns: readonly Turn[]): string {
  const spoken = turns.filter((turn) => !isSystem(turn) && turn.text !== '');
  const parts = spoken.map(({ role, text }) => `${role.charAt(0).toUpperCase()}${role.slice(1)}: ${text}`);
  return [...turns.filter(isSystem).map((turn) => turn.text), ...parts].join('\n\n');
}

function prompt(text: string): ReadPrompt {
  return { kind: 'prompt', text };
}

function refused(code: string, message: string): Extract<ReadPrompt, { kind: 'refused' }> {
  return { kind: 'refused', failure: cliFailure('invalid', code, message) };
}

function unsupported(message: string): Extract<ReadPrompt, { kind: 'refused' }> {
  return { kind: 'refused', failure: cliFailure('unsupported', 'request.unsupported', message) };
}
