import { IopError } from '@iop/domain';

/** True as soon as the Edge says that it is ready. */
export async function isReady(httpUrl: string, signal: AbortSignal): Promise<true | undefined> {
  try {
    const answer = await fetch(`${httpUrl}/readyz`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]),
    });
    await answer.arrayBuffer();
    return answer.ok ? true : undefined;
  } catch (cause) {
    if (signal.aborted) throw cause;
    return undefined;
  }
}

/**
 * Runs a chat through the HTTP door with the key that is about to be printed, as its user will: only
 * then it is true that IOP is up. @throws IopError with what the door answered
 */
export async function proveChat(httpUrl: string, apiKey: string, signal: AbortSignal): Promise<void> {
  const answer = await fetch(`${httpUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'mock/echo', messages: [{ role: 'user', content: 'ready?' }] }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
  });
  const text = await answer.text();
  if (answer.ok && contentOf(text) !== undefined) return;
  const message = `a first chat through ${httpUrl} failed: ${answer.status} ${text.slice(0, 300)}`;
  throw new IopError({ kind: 'internal', code: 'up.first-chat', message });
}

function contentOf(text: string): string | undefined {
  const { choices } = JSON.parse(text) as { choices?: { message?: { content?: string } }[] };
  const content = choices?.[0]?.message?.content;
  return content === '' ? undefined : content;
}
