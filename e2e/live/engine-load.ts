/**
 * How many requests an engine works on, by its own word: llama.cpp's `/slots`, vLLM's `/metrics`.
 * Undefined for engines that do not tell.
 */
export async function askLoad(origin: string): Promise<number | undefined> {
  return (await slotsAtWork(origin)) ?? (await requestsRunning(origin));
}

async function slotsAtWork(origin: string): Promise<number | undefined> {
  const text = await read(`${origin}/slots`);
  if (text === undefined) return undefined;
  return (JSON.parse(text) as { is_processing: boolean }[]).filter((slot) => slot.is_processing).length;
}

async function requestsRunning(origin: string): Promise<number | undefined> {
  const text = (await read(`${origin}/metrics`)) ?? '';
  const counts = [...text.matchAll(/^vllm:num_requests_(?:running|waiting)\{[^}]*\} (\S+)$/gm)];
  return counts.length === 0 ? undefined : counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function read(url: string): Promise<string | undefined> {
  const answer = await fetch(url);
  const text = await answer.text();
  return answer.ok ? text : undefined;
}
